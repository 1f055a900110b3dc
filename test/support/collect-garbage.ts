import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Loaded into a service under test by `--import`: SIGWINCH, which nothing else uses, makes it collect all garbage. */
if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  process.on('SIGWINCH', () => collect());
}
