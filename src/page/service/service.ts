import { Client } from '../../client/client.js';
import { Connection } from '../../client/connection.js';
import { ServiceError } from '../../client/errors.js';
import type {
  CheckAnswer,
  Diagnosis,
  JobStatus,
  Mesh,
  Parameters,
  Positions,
  ResolveResult,
  ServerInfo,
  UntangledState,
  UntangleProgress,
} from '../../client/types.js';
import { motionFromJson, objectFromJson, untangledFromJson } from '../../client/wire.js';
import type { Progress, Report } from '../../contract/report.js';
import type { Hints } from '../study.js';
import { type ContractTables, type Decoded, decode } from './decode.js';

/** Defined by the build. */
declare const CONTRACT_TABLES: ContractTables;

/** The fields of a session in `GET /v1/sessions` that the page shows. */
export interface ListedSession {
  readonly id: string;
  readonly label: string;
  readonly frame: number;
  readonly residency: string;
  readonly deviceBytes: number;
  readonly created: string;
  readonly lastUsed: string;
  readonly mesh: {
    readonly vertices: number;
    readonly triangles: number;
    readonly segments: number;
    readonly particles: number;
  };
  readonly lastReport?: Report;
}

/** The client does not end a computation of minutes; the user can cancel it. */
const TIMEOUT_SECONDS = 3600;
/** A path is requested only if it has room for this many states: with fewer it would not be worth showing. */
const LEAST_STATES = 16;
/** Vertices up to which an answer with its path may be text, if the service has no jobs. */
const MAX_TEXT_VERTICES = 20_000;
/** Seconds for which the service keeps a result that is not fetched (the tab was closed): time to reload the page. */
const KEEP_SECONDS = 900;
/** The label of the page's jobs. */
const LABEL = 'page';
/** A user waits for the jobs of the page, unlike for other jobs. */
const AS_JOB = { priority: 'NORMAL', label: LABEL, keepForSeconds: KEEP_SECONDS } as const;
/** Intersecting pairs of a state that are requested, to be shown as a map. */
const MAX_PAIRS = 20_000;

/** Elements that a finding of a diagnosis may name, to be marked in the scene. */
const MAX_ELEMENTS = 2000;

/** The listeners of a caller that waits for an answer. */
export interface Asked {
  readonly signal: AbortSignal;
  /** called with the id of the job, if it is one */
  readonly onJob: (id: string) => void;
  /** called about once a second */
  readonly onProgress: (status: RunStatus) => void;
}

type Waiting = Pick<Asked, 'signal' | 'onProgress'>;

/** The progress of a computation. */
export type RunStatus = Pick<JobStatus, 'state' | 'phase' | 'ahead' | 'progress' | 'untangleProgress'>;

interface ResolveOptions extends Asked {
  readonly parameters: Parameters;
  readonly timeBudgetSeconds?: number;
}

/** The service that this page came from. */
export class Service {
  #key: string | undefined;
  #client!: Client;
  #connection!: Connection;
  #info: Promise<ServerInfo> | undefined;

  /** @param base address with the prefix that a proxy adds */
  constructor(readonly base: string) {
    this.setKey(undefined);
  }

  /** @param key kept in memory only */
  setKey(key: string | undefined): void {
    this.#key = key;
    this.#info = undefined;
    const options = {
      ...(key === undefined ? {} : { apiKey: key }),
      timeoutSeconds: TIMEOUT_SECONDS,
      retry: { attempts: 1 },
      // The default is not bound to the window, which browsers refuse.
      fetch: fetch.bind(globalThis),
    };
    this.#client = new Client(this.base, options);
    this.#connection = new Connection(this.base, options);
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  info(): Promise<ServerInfo> {
    return this.#client.info();
  }

  /**
   * The answer with contacts, what holds each vertex and, if it fits into a message, the path. If the service has jobs,
   * it is computed as one: no connection has to wait for it, and its result comes as bytes.
   */
  async resolve(mesh: Mesh, start: Positions, target: Positions, options: ResolveOptions): Promise<ResolveResult> {
    const { features, limits } = await this.#known();
    const isJob = features.includes('jobs');
    const width = start instanceof Float64Array || target instanceof Float64Array ? 8 : 4;
    const pathFits = 3 * width * mesh.vertexCount * LEAST_STATES <= limits.maxMessageBytes;
    const path = isJob ? pathFits : mesh.vertexCount <= MAX_TEXT_VERTICES;
    const include = { contacts: true, vertices: true, reasons: true };
    const ask = (withPath: boolean) => {
      const asked = { ...options, include: { ...include, path: withPath } };
      if (isJob) return this.#resolveAsJob(mesh, start, target, asked);
      const onProgress = (progress: Progress) => options.onProgress({ state: 'JOB_RUNNING', progress });
      return this.#client.resolve(mesh, start, target, { ...asked, onProgress });
    };
    try {
      return await ask(path);
    } catch (thrown) {
      // A path of very many steps, or so many contacts that the service lists none, or a result for which jobs have no room.
      const isTooMuch = thrown instanceof ServiceError && /^(TOO_LARGE|QUOTA_EXCEEDED)$/.test(thrown.code);
      if (!isTooMuch || !path) throw thrown;
      return await ask(false);
    }
  }

  async #resolveAsJob(
    mesh: Mesh,
    start: Positions,
    target: Positions,
    { onJob, onProgress, ...options }: ResolveOptions & { readonly include: object },
  ): Promise<ResolveResult> {
    const job = await this.#client.submit(mesh, start, target, { ...options, ...AS_JOB });
    onJob(job.id);
    return this.resume(job.id, { onProgress, signal: options.signal });
  }

  /** The answer of a resolve that this page submitted, perhaps before a reload. @throws ServiceError JOB_NOT_FOUND */
  async resume(id: string, asked: Waiting): Promise<ResolveResult> {
    return motionFromJson(await this.#answerOf(id, asked)) as ResolveResult;
  }

  /** The same for an untangling. @throws ServiceError JOB_NOT_FOUND */
  async resumeUntangling(id: string, asked: Waiting): Promise<UntangledState> {
    return untangledFromJson((await this.#answerOf(id, asked)).untangle);
  }

  /** Waits for the end of a job and fetches its result. The job is kept: the caller deletes it. */
  async #answerOf(id: string, { onProgress, signal }: Waiting): Promise<Decoded> {
    const { error } = await this.#client.job(id).wait({ onProgress, signal });
    if (error) throw error;
    const bytes = await this.#connection.request(
      `/v1/jobs/${encodeURIComponent(id)}/result`,
      { method: 'GET', headers: { accept: 'application/x-protobuf' }, signal },
      async (answer) => new Uint8Array(await answer.arrayBuffer()),
    );
    return decode(CONTRACT_TABLES, 'ResolveResponse', bytes);
  }

  /** Stops a job if it has not ended, and deletes it. If the service cannot be reached, the job expires. */
  forget(id: string): void {
    void this.#client
      .job(id)
      .delete()
      .catch(() => {});
  }

  #known(): Promise<ServerInfo> {
    this.#info ??= this.info().catch((thrown: unknown) => {
      this.#info = undefined;
      throw thrown;
    });
    return this.#info;
  }

  check(mesh: Mesh, positions: Positions, signal: AbortSignal): Promise<CheckAnswer> {
    return this.#client.check(mesh, positions, { maxPairs: MAX_PAIRS, signal });
  }

  diagnose(mesh: Mesh, start: Positions, target: Positions | undefined, signal: AbortSignal): Promise<Diagnosis> {
    return this.#client.diagnose(mesh, start, { signal, maxElements: MAX_ELEMENTS, ...(target ? { target } : {}) });
  }

  /** Untangles as a job if the service has jobs, like a resolve. */
  async untangle(
    mesh: Mesh,
    start: Positions,
    hints: Hints,
    { signal, onJob, onProgress }: Asked,
  ): Promise<UntangledState> {
    const { features } = await this.#known();
    if (!features.includes('jobs')) {
      const tell = (untangleProgress: UntangleProgress) => onProgress({ state: 'JOB_RUNNING', untangleProgress });
      return this.#client.untangle(mesh, start, { ...hints, signal, onProgress: tell });
    }
    const job = await this.#client.submitUntangling(mesh, start, { ...hints, ...AS_JOB, signal });
    onJob(job.id);
    return this.resumeUntangling(job.id, { onProgress, signal });
  }

  /** All sessions of the caller, the oldest first. */
  async sessions(): Promise<readonly ListedSession[]> {
    const all: ListedSession[] = [];
    let query = '';
    do {
      const answer = await this.#connection.requestJson(`/v1/sessions${query}`, { method: 'GET' }, objectFromJson);
      const { sessions, nextPageToken } = answer as { sessions: ListedSession[]; nextPageToken: string };
      all.push(...sessions);
      query = nextPageToken === '' ? '' : `?pageToken=${encodeURIComponent(nextPageToken)}`;
    } while (query !== '');
    return all;
  }

  /** Names of the example pairs that the service has. */
  async examples(): Promise<readonly string[]> {
    return (await this.#file('examples.json')).json() as Promise<string[]>;
  }

  async example(name: string, file: string): Promise<Blob> {
    return (await this.#file(`examples/${name}/${file}`)).blob();
  }

  async #file(path: string): Promise<Response> {
    const answer = await fetch(`${this.base}/page/${path}`).catch((cause: unknown) => {
      throw new ServiceError({ code: 'UNREACHABLE', message: 'The service cannot be reached.', cause });
    });
    if (!answer.ok) throw new ServiceError({ code: 'NOT_FOUND', message: `The service has no file ${path}.` });
    return answer;
  }
}
