import { IntersticeError } from '../errors.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { monotonicMs, toMonotonicMs } from '../schedule/clock.js';
import type { Finding } from '../schedule/finding.js';
import type { EngineSource } from '../schedule/messages.js';
import { WorkerPool } from '../schedule/pool.js';
import { defaultsOf } from '../solver/parameters.js';
import type { EngineDescription } from '../solver/types.js';
import { admitCheck, admitResolve } from './admission.js';
import { writeFinding } from './findings-folder.js';
import { judgeProbe, probeRequest } from './probe.js';
import type { CallContext, Limits, Operations, ResolveAnswer, ResolveRequest, ServerInfo } from './types.js';

export interface OperationsOptions {
  /** `auto` takes the best engine there is, and says in `info().engines` what it fell back to and why */
  readonly engine: 'auto' | 'cpu' | 'webgpu';
  /** which GPU, for engine `webgpu` */
  readonly adapter?: string | undefined;
  /** worker threads at most */
  readonly threads: number;
  readonly limits: Limits;
  /** whether verify NONE is granted */
  readonly allowUnverified: boolean;
  /** an event as a pino-like logger takes it; findings carry `level: 'error'` */
  readonly log?: ((event: object, message: string) => void) | undefined;
  /** where reproductions of findings are written; default: a folder for temporary files */
  readonly findingsFolder?: string | undefined;
  /** in place of the engine that `engine` names: for tests, and for trying an engine of one's own */
  readonly engineSource?: EngineSource | undefined;
}

const CPU_ENGINE: EngineSource = {
  module: new URL('../solver/cpu/engine.js', import.meta.url).href,
  factory: 'createCpuEngine',
};

const NO_GPU = 'the GPU engine is not offered yet';

/**
 * Opens the engine on a first worker and returns the operations on it.
 *
 * @throws UNIMPLEMENTED for engine `webgpu`; INTERNAL when no worker can be started
 */
export async function createOperations(options: OperationsOptions): Promise<Operations> {
  if (options.engine === 'webgpu') {
    throw new IntersticeError('UNIMPLEMENTED', `${NO_GPU}; use cpu or auto`);
  }
  if (options.adapter !== undefined && options.engine === 'cpu') {
    throw new IntersticeError('INVALID_PARAMETER', 'adapter is set, but engine cpu uses none; leave it unset');
  }
  const { limits, log } = options;
  const pool = new WorkerPool({
    engine: options.engineSource ?? CPU_ENGINE,
    limits,
    allowUnverified: options.allowUnverified,
    threads: options.threads,
    maxQueue: limits.maxQueue,
    onWorkerLost: (reason) => log?.({ level: 'error', event: 'worker-lost', err: reason }, reason.message),
  });
  try {
    return new PooledOperations(pool, options, await pool.hello());
  } catch (thrown) {
    await pool.close();
    throw thrown;
  }
}

class PooledOperations implements Operations {
  private probe: Promise<void> | undefined;
  /** reproductions being written, so that close() does not cut one off */
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly pool: WorkerPool,
    private readonly options: OperationsOptions,
    private readonly engine: EngineDescription,
  ) {}

  async resolve(request: ResolveRequest, context: CallContext = {}): Promise<ResolveAnswer> {
    admitResolve(request, this.options.limits);
    const queuedAt = monotonicMs();
    const receivedAt = context.receivedAt === undefined ? queuedAt : toMonotonicMs(context.receivedAt);
    const { timeBudgetSeconds } = request;
    return this.pool.run(
      'resolve',
      { request, receivedAt, queuedAt },
      {
        signal: context.signal,
        expiresAt: timeBudgetSeconds === undefined ? undefined : receivedAt + timeBudgetSeconds * 1000,
        onProgress: context.onProgress,
        onState: context.onState,
        onFinding: (finding) => this.record(finding),
      },
    );
  }

  async check(...[request, context = {}]: Parameters<Operations['check']>): ReturnType<Operations['check']> {
    if (!('mesh' in request)) return refuseSessions();
    admitCheck(request, this.options.limits);
    return this.pool.run('check', request, { signal: context.signal });
  }

  createSession = refuseSessions;
  getSession = refuseSessions;
  listSessions = refuseSessions;
  updateSession = refuseSessions;
  deleteSession = refuseSessions;
  step = refuseSessions;

  info(): ServerInfo {
    const { engine, options } = this;
    const adapter = options.engine === 'auto' ? `${engine.adapter} (auto: ${NO_GPU})` : engine.adapter;
    return {
      version: packageVersion,
      algorithmVersion,
      engines: [{ ...engine, adapter }],
      limits: options.limits,
      defaults: defaultsOf('TUNED'),
      features: ['resolve', 'check'],
    };
  }

  /** The same probe for all who ask; a failed one is tried again when somebody asks again. */
  ready(): Promise<void> {
    this.probe ??= this.resolve(probeRequest())
      .then(judgeProbe)
      .catch((reason: unknown) => {
        this.probe = undefined;
        throw reason;
      });
    return this.probe;
  }

  async close(): Promise<void> {
    await this.pool.close();
    await Promise.all(this.writing);
  }

  private record(finding: Finding): void {
    const { log, findingsFolder } = this.options;
    const event = { level: 'error', event: 'finding', kind: finding.kind, engine: finding.engine };
    const write = writeFinding(finding, findingsFolder).then(
      (folder) => log?.({ ...event, folder }, `${finding.message}; it was not sent, see ${folder}`),
      (reason: unknown) =>
        log?.({ ...event, err: reason }, `${finding.message}; it was not sent, and no reproduction could be written`),
    );
    this.writing.add(write);
    void write.finally(() => this.writing.delete(write));
  }
}

async function refuseSessions(): Promise<never> {
  throw new IntersticeError('UNIMPLEMENTED', 'sessions are not built yet');
}
