import { setLogger } from '@grpc/grpc-js';
import type { Logger } from '../../observe/log.js';

/** What the library has to say goes into our log; by itself it writes to the console. One setting for the whole process. */
export function redirectLibraryLog(log: Logger): void {
  const write =
    (level: 'debug' | 'warn') =>
    (...words: unknown[]): void =>
      log[level]({ library: 'grpc-js' }, words.map(String).join(' '));
  // Its errors are failed binds and lost connections, which the door reports in its own words as well.
  setLogger({ error: write('warn'), info: write('debug'), debug: write('debug') });
}
