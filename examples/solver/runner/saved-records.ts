import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { StepRecord } from './records.js';

/** The folder of published results, in the repository. */
export const RESULTS = join('examples', 'solver', 'results');

const SUFFIX = '.jsonl.gz';

/** Returns the file of the published records of a run. @param to the folder of results */
export const publishedFile = (to: string, title: string): string => join(to, 'records', `${title}${SUFFIX}`);

/** Returns the run to which a file of the folder of published records belongs; undefined = none */
export const titleOfPublished = (name: string): string | undefined =>
  name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;

/** Records of a saved run, complete or not. @param folder of the run */
export function readRecords(folder: string): StepRecord[] {
  const file = join(folder, 'steps.jsonl');
  return existsSync(file) ? parse(readFileSync(file, 'utf8')) : [];
}

/** Records of a published run. @param to the folder of results */
export function readPublished(to: string, title: string): StepRecord[] {
  const file = publishedFile(to, title);
  return existsSync(file) ? parse(gunzipSync(readFileSync(file)).toString()) : [];
}

/** An incomplete line after an interruption is not a record. */
const parse = (text: string): StepRecord[] =>
  text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as StepRecord);
