import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beginTrace, INDEX_NAME, STATE_NAME } from '../session/trace.js';
import { UsageError } from './exit-codes.js';

export { TraceWriter } from '../session/trace.js';

/**
 * Checks, before anything is computed, that a folder can hold a trace: it may be missing, empty, or hold an earlier trace,
 * which is replaced. States of two runs in one folder would read as one path. trace.json is there from the beginning, so
 * that the folder of an interrupted run is known for what it is; `isComplete` tells them apart.
 *
 * @throws UsageError for a folder that holds anything else
 */
export async function prepareTraceFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch {
    throw new UsageError(`cannot use ${folder} for a trace: it is no folder and cannot become one.`, 'resolve');
  }
  const names = await readdir(folder);
  const foreign = names.find((name) => name !== INDEX_NAME && !STATE_NAME.test(name));
  if (foreign !== undefined || (names.length > 0 && !names.includes(INDEX_NAME))) {
    throw new UsageError(
      `cannot use ${folder} for a trace: it holds ${foreign ?? names[0]}. Name an empty or a new folder.`,
      'resolve',
    );
  }
  for (const name of names) await rm(join(folder, name));
  beginTrace(folder);
}
