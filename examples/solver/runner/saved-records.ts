import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { StepRecord } from './records.js';

/** Where results are published, in the repository. */
export const RESULTS = join('examples', 'solver', 'results');

const SUFFIX = '.jsonl.gz';

/** The file of the published records of a run. @param to the folder of results */
export const publishedFile = (to: string, title: string): string => join(to, 'records', `${title}${SUFFIX}`);

/** What run a file of the folder of published records is of; undefined = of none */
export const titleOfPublished = (name: string): string | undefined =>
  name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;

/** Records of a run that was saved, complete or not. @param folder that the run is played into */
export function readRecords(folder: string): StepRecord[] {
  const file = join(folder, 'steps.jsonl');
  return existsSync(file) ? parse(readFileSync(file, 'utf8')) : [];
}

/** Records of a run that was published. @param to the folder of results */
export function readPublished(to: string, title: string): StepRecord[] {
  const file = publishedFile(to, title);
  return existsSync(file) ? parse(gunzipSync(readFileSync(file)).toString()) : [];
}

/** A line that an interruption has cut off is no record. */
const parse = (text: string): StepRecord[] =>
  text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as StepRecord);
