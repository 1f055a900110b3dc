import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';

/** Lets every start of a thread in this process fail as where the system has none to give. */
export function threadsOfSystem(): { refuse(): void; allow(): void } {
  const { Worker } = workerThreads;
  const put = (thread: unknown) => {
    Object.assign(workerThreads, { Worker: thread });
    syncBuiltinESMExports();
  };
  class Refused {
    constructor() {
      throw Object.assign(new Error('no thread for you'), { code: 'ERR_WORKER_INIT_FAILED' });
    }
  }
  return { refuse: () => put(Refused), allow: () => put(Worker) };
}
