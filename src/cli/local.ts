import { type Config, readConfig } from '../config/config.js';
import type { Environment } from '../config/reader.js';
import { SETTINGS } from '../config/settings.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeasuredOperations } from '../contract/events.js';
import type { MeshLimits } from '../contract/mesh.js';
import { STRUCTURAL_LIMITS } from '../mesh/limits.js';
import type { OperationsOptions } from '../session/operations.js';
import type { Backend, BackendChoice } from './backend.js';
import { UsageError } from './exit-codes.js';
import type { Sink } from './terminal.js';

/** Settings that apply to one run in this process; settings that only concern the service are not even read. */
const RELEVANT = [
  SETTINGS.engine,
  SETTINGS.adapter,
  SETTINGS.shaderCache,
  SETTINGS.threads,
  SETTINGS.cores,
  SETTINGS.maxVertices,
  SETTINGS.maxElements,
  SETTINGS.maxMessageBytes,
  SETTINGS.maxTimeBudgetSeconds,
  SETTINGS.allowUnverified,
].map((setting) => setting.name);

/**
 * Reads settings for a command.
 *
 * @param flags values by environment variable; they take precedence over `environment`
 * @throws UsageError that lists every problem
 */
export function readSettings(environment: Environment, flags: Environment, command: string | undefined): Config {
  try {
    return readConfig(environment, flags);
  } catch (error) {
    if (error instanceof IntersticeError) throw new UsageError(error.message, command);
    throw error;
  }
}

/**
 * The engine's settings for one run: one request needs one thread, and has no time limit. The default is the CPU:
 * opening a graphics device takes longer than most single resolves, and the drivers' discovery writes to the error
 * stream.
 */
export function localConfig(environment: Environment, choice: BackendChoice, command?: string): Config {
  const relevant = Object.fromEntries(RELEVANT.map((name) => [name, environment[name]]));
  return readSettings(
    {
      [SETTINGS.threads.name]: '1',
      [SETTINGS.engine.name]: 'cpu',
      [SETTINGS.defaultTimeBudgetSeconds.name]: '0',
      // One session has no others to make room for.
      [SETTINGS.maxDeviceBytes.name]: '0',
      ...dropUnset(relevant),
    },
    dropUnset({
      [SETTINGS.engine.name]: choice.engine,
      [SETTINGS.threads.name]: choice.threads?.toString(),
    }),
    command,
  );
}

/**
 * The limits of a mesh that is computed in this process: a file is refused as soon as it exceeds them, not when it has
 * been read. Its size alone proves nothing, because comments and other data may take any share of it.
 *
 * @returns undefined for a mesh that a service computes, which has limits of its own
 */
export function readingLimits(
  choice: BackendChoice & { readonly weld?: boolean },
  environment: Environment,
  command: string,
): MeshLimits | undefined {
  if (choice.server !== undefined) return undefined;
  const { maxVertices, maxElements } = localConfig(environment, choice, command).limits;
  // Welding drops elements, and no vertices.
  return { maxVertices, maxElements: choice.weld ? STRUCTURAL_LIMITS.maxElements : maxElements };
}

const dropUnset = (values: Environment): Environment =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''));

/** Opens the operations as configured. Imports them only when called, so that `--help` does not load an engine. */
export async function openOperations(
  config: Config,
  log: (event: object, message: string) => void,
  service: Pick<OperationsOptions, 'onEvent' | 'features' | 'store'> = {},
): Promise<MeasuredOperations> {
  const { createOperations } = await import('../session/operations.js');
  const { encodeJson } = await import('../transport/json/encode.js');
  const { engine, adapter, shaderCache, threads, threadsAreSet, cores, limits, allowUnverified } = config;
  const { maxSessionsPerTenant, maxSessionBytes, maxPairBytes, maxWorkBytes, maxQueueBytes } = config;
  const { maxSceneBytes, maxJobs, maxJobsPerTenant, maxJobBytes, jobKeepSeconds } = config;
  const { idleTimeoutSeconds, traceFolder, findingsFolder, convoy } = config;
  return createOperations({
    engine,
    adapter,
    shaderCache,
    threads: threadsAreSet ? threads : undefined,
    cores,
    limits,
    allowUnverified,
    maxSessionsPerTenant,
    maxSessionBytes,
    maxSceneBytes,
    maxJobs,
    maxJobsPerTenant,
    maxJobBytes,
    jobKeepSeconds,
    convoy,
    maxPairBytes,
    maxWorkBytes,
    maxQueueBytes,
    idleTimeoutSeconds,
    traceFolder,
    findingsFolder,
    encodeReport: (report) => encodeJson('Report', report, { arrays: true }),
    log,
    ...service,
  });
}

/** Opens an engine in this process. Log messages are held until it closes, when no progress line is on the screen. */
export async function openLocal(
  choice: BackendChoice,
  environment: Environment,
  err: Sink,
  command: string | undefined,
): Promise<Backend> {
  const notes: string[] = [];
  const operations = await openOperations(localConfig(environment, choice, command), (_event, message) => {
    notes.push(`note: ${message}\n`);
  });
  return {
    resolve: (request, context) => operations.resolve(request, context),
    check: (request, context) => operations.check(request, context),
    diagnose: (request, context) => operations.diagnose(request, context),
    untangle: (request, context) => operations.untangle(request, context),
    async openSession(request, signal) {
      const context = signal ? { signal } : {};
      const { id: sessionId } = await operations.createSession(request, context);
      return {
        step: (target, { onProgress, ...options } = {}) =>
          operations.step({ sessionId, target, ...options }, { ...context, ...(onProgress ? { onProgress } : {}) }),
        close: () => operations.deleteSession(sessionId),
      };
    },
    async close() {
      await operations.close();
      for (const note of notes) err.write(note);
    },
  };
}
