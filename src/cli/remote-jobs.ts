import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { IntersticeError } from '../contract/errors.js';
import type { JobInfo } from '../contract/long-jobs.js';
import type { BackendJobs, BackendWork } from './backend.js';
import {
  callService,
  type RemoteAnswer,
  type RemoteUntangled,
  requestMessage,
  type ServiceAddress,
  toResolveAnswer,
  toUntangled,
  withOptions,
} from './remote.js';
import { errorOf, type RemoteError } from './remote-http.js';
import { UnreachableError } from './unreachable.js';

/**
 * Attempts of a call, a second apart unless the service says when to retry: it may be unreachable for half a minute,
 * and the job continues meanwhile if its process is alive.
 */
const ATTEMPTS = 30;
const PAUSE_MS = 1000;
/** Seconds; a call whose service asks for a longer pause is not repeated. */
const LONGEST_RETRY_AFTER = 30;
/** Seconds that one request waits for the end of a job, so the interval at which progress is drawn. */
const WAIT_SECONDS = 1;

/** The jobs of a running service. Calls that get no answer are repeated; a submission has a key, so it is one job. */
export function openRemoteJobs(service: ServiceAddress): BackendJobs {
  const get = async (id: string, waitSeconds: number, signal: AbortSignal | undefined): Promise<JobInfo> =>
    toJobInfo(await persistently(() => callService(service, 'getJob', { waitSeconds }, { signal, id }), signal));
  return {
    async submit(work, label, signal) {
      const message = { ...workMessage(work), label, idempotencyKey: randomUUID() };
      return toJobInfo(await persistently(() => callService(service, 'submitJob', message, { signal }), signal));
    },
    get: (id, signal) => get(id, 0, signal),
    async wait(id, onStatus, signal) {
      for (;;) {
        const job = await get(id, WAIT_SECONDS, signal);
        onStatus(job);
        if (job.ended !== undefined) return job;
      }
    },
    async result(id, signal) {
      const ask = () => callService(service, 'getJobResult', {}, { signal, id });
      const { untangle, ...solved } = (await persistently(ask, signal)) as RemoteAnswer & {
        readonly untangle?: RemoteUntangled;
      };
      return untangle ? { untangle: toUntangled(untangle) } : { resolve: toResolveAnswer(solved) };
    },
    async list(signal) {
      const jobs: JobInfo[] = [];
      let pageToken = '';
      do {
        const request = pageToken === '' ? {} : { pageToken };
        const page = await persistently(() => callService(service, 'listJobs', request, { signal }), signal);
        const answer = page as { jobs: readonly RemoteJob[]; nextPageToken: string };
        jobs.push(...answer.jobs.map(toJobInfo));
        pageToken = answer.nextPageToken;
      } while (pageToken !== '');
      return jobs;
    },
    async delete(id, signal) {
      let isRepeated = false;
      const attempt = async (): Promise<void> => {
        try {
          await callService(service, 'deleteJob', {}, { signal, id });
        } catch (thrown) {
          // The attempt before has deleted it, and its answer was lost.
          if (isRepeated && thrown instanceof IntersticeError && thrown.code === 'JOB_NOT_FOUND') return;
          isRepeated = true;
          throw thrown;
        }
      };
      await persistently(attempt, signal);
    },
  };
}

const workMessage = (work: BackendWork): object =>
  'resolve' in work
    ? { resolve: requestMessage('ResolveRequest', work.resolve) }
    : { untangle: requestMessage('UntangleRequest', withOptions(work.untangle)) };

/** Repeats a call that got no answer or a retryable refusal. @throws CANCELLED if `signal` aborts */
async function persistently(call: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    let pauseMs: number | undefined;
    try {
      return await call();
    } catch (thrown) {
      pauseMs = pauseAfter(thrown);
      if (pauseMs === undefined || attempt === ATTEMPTS) throw thrown;
    }
    await pause(pauseMs, undefined, signal ? { signal } : {}).catch((cause) => {
      throw new IntersticeError('CANCELLED', 'The request was cancelled.', { cause });
    });
  }
}

/** undefined = another attempt would have the same result */
function pauseAfter(thrown: unknown): number | undefined {
  if (thrown instanceof UnreachableError) return PAUSE_MS;
  if (!(thrown instanceof IntersticeError) || !thrown.retryable) return undefined;
  // Kept results fill a quota for up to a day; their owner, who would wait here without a word, frees places at once.
  if (thrown.code === 'QUOTA_EXCEEDED') return undefined;
  const seconds = thrown.retryAfterSeconds ?? 0;
  return seconds > LONGEST_RETRY_AFTER ? undefined : Math.max(PAUSE_MS, 1000 * seconds);
}

interface RemoteJob extends Omit<JobInfo, 'created' | 'started' | 'ended' | 'expires' | 'error'> {
  readonly created: string;
  readonly started?: string;
  readonly ended?: string;
  readonly expires?: string;
  readonly error?: RemoteError;
}

function toJobInfo(answer: unknown): JobInfo {
  const { created, started, ended, expires, error, ...same } = answer as RemoteJob;
  return {
    ...same,
    created: Date.parse(created),
    ...(started === undefined ? {} : { started: Date.parse(started) }),
    ...(ended === undefined ? {} : { ended: Date.parse(ended) }),
    ...(expires === undefined ? {} : { expires: Date.parse(expires) }),
    ...(error === undefined ? {} : { error: errorOf(error) }),
  };
}
