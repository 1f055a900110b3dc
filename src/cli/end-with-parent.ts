import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a service that a command starts for itself, with a pipe as its standard input. Nothing is ever written
 * there: the pipe closes when the command ends, however it ends, and then the service ends as after SIGTERM.
 */

if (isMainThread) {
  const stop = (): void => void process.kill(process.pid, 'SIGTERM');
  process.stdin.once('end', stop).once('error', stop).resume();
  // The pipe must not keep the process alive after the service has ended.
  (process.stdin as Partial<Pick<typeof process.stdin, 'unref'>>).unref?.();
}
