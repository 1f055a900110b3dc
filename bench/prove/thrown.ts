import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../src/paths.js';

/** What was thrown and where, for a report that others read: files are named from the project's root on. */
export function describeThrown(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replaceAll(`${pathToFileURL(projectRoot).href}/`, '').replaceAll(`${projectRoot}/`, '');
}
