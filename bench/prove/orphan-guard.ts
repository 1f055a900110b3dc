import { isMainThread } from 'node:worker_threads';

/* Loaded into every service that the campaign starts: ends it when the campaign is gone. */

const CHECK_MS = 500;

if (isMainThread) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  }, CHECK_MS).unref();
}
