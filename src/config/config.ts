import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IntersticeError } from '../contract/errors.js';
import type { Limits } from '../contract/server-info.js';
import { readSettingsFile } from './file.js';
import { type Environment, Reader, type SettingValue } from './reader.js';
import { SETTINGS, type Setting } from './settings.js';

export { describeConfig, tabulateConfig } from './describe.js';
export type { Environment, SettingValue, Source } from './reader.js';
export { SETTINGS, type Setting } from './settings.js';

export type EngineChoice = 'auto' | 'cpu' | 'webgpu';
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** set: clients must show a certificate that it signed */
  readonly clientCa?: string;
}

export interface Config {
  readonly host: string;
  readonly httpPort: number;
  readonly grpcPort: number | 'off';
  readonly grpcTls?: TlsFiles;
  readonly adminHost: string;
  readonly adminPort: number | 'off';
  /** path of the file of keys; absent = nobody has to show one */
  readonly apiKeys?: string;
  readonly engine: EngineChoice;
  readonly adapter?: string;
  readonly threads: number;
  readonly allowUnverified: boolean;
  readonly limits: Limits;
  /** of an HTTP body in JSON; what is larger must come as protobuf, bare positions or files */
  readonly maxJsonBytes: number;
  readonly maxSessionsPerTenant: number;
  /** of requests that wait; 0 = no limit */
  readonly maxQueueBytes: number;
  /** 0 = no limit */
  readonly maxSessionBytes: number;
  /** 0 = until deleted */
  readonly idleTimeoutSeconds: number;
  readonly traceFolder?: string;
  readonly findingsFolder?: string;
  readonly drainSeconds: number;
  readonly logLevel: LogLevel;
  /** things worth saying at start that do not stop it */
  readonly warnings: readonly string[];
  /** every setting as it holds. None is a secret: keys and certificates stand in files of their own. */
  readonly settings: readonly SettingValue[];
}

/** Read elsewhere: by tests, benchmarks, the command line. */
const OTHER_VARIABLES = new Set([
  'INTERSTICE_DATA',
  'INTERSTICE_REQUIRE_GPU',
  'INTERSTICE_DEBUG',
  'INTERSTICE_FUZZ_SECONDS',
]);

const NAMES: ReadonlySet<string> = new Set(Object.values<Setting>(SETTINGS).map((setting) => setting.name));
const NAMES_IN_FILE: ReadonlySet<string> = new Set([...NAMES].filter((name) => name !== SETTINGS.config.name));

/**
 * Reads and checks all settings: the environment, then the file that INTERSTICE_CONFIG names, then the defaults. An empty
 * variable counts as unset.
 *
 * @throws INVALID_PARAMETER that lists every problem at once, a line each
 */
export function readConfig(environment: Environment): Config {
  const path = environment[SETTINGS.config.name];
  const file = path ? readSettingsFile(path, NAMES_IN_FILE) : { values: {}, problems: [] };
  const read = new Reader(environment, file.values, [...file.problems]);
  const config = {
    ...readServing(read),
    ...readWork(read),
    warnings: [] as readonly string[],
    settings: read.settings(),
  };
  const { problems } = read;
  if (problems.length > 0) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The settings have ${problems.length} problem(s):\n- ${problems.join('\n- ')}`,
      { hint: 'Correct the environment variables, or the file; the reference lists every setting with its range.' },
    );
  }
  return { ...config, warnings: warningsOf(environment, config) };
}

/** Doors, keys, life. */
function readServing(read: Reader) {
  const host = read.text(SETTINGS.host) ?? '';
  const isInsecure = read.choice(SETTINGS.insecure) === '1';
  const apiKeys = read.text(SETTINGS.apiKeys);
  if (!isLoopback(host) && apiKeys === undefined && !isInsecure) {
    read.problems.push(
      `INTERSTICE_HOST is ${JSON.stringify(host)}, which others can reach, and there are no API keys: name a file of keys in INTERSTICE_API_KEYS, listen on 127.0.0.1, or set INTERSTICE_INSECURE=1 if whoever can connect may use the service.`,
    );
  }
  const grpcTls = readTls(read);
  read.choice(SETTINGS.store);
  return {
    host,
    httpPort: read.number(SETTINGS.httpPort),
    grpcPort: read.numberOrOff(SETTINGS.grpcPort),
    ...(grpcTls ? { grpcTls } : {}),
    adminHost: read.text(SETTINGS.adminHost) ?? '',
    adminPort: read.numberOrOff(SETTINGS.adminPort),
    ...(apiKeys === undefined ? {} : { apiKeys }),
    drainSeconds: read.number(SETTINGS.drainSeconds),
    logLevel: read.choice(SETTINGS.logLevel) as LogLevel,
  };
}

/** Engine, limits, sessions. */
function readWork(read: Reader) {
  const adapter = read.text(SETTINGS.adapter);
  const trace = read.text(SETTINGS.trace);
  const findingsFolder = read.text(SETTINGS.findings);
  const maxSessions = read.number(SETTINGS.maxSessions);
  return {
    engine: read.choice(SETTINGS.engine) as EngineChoice,
    ...(adapter === undefined ? {} : { adapter }),
    threads: read.number(SETTINGS.threads),
    allowUnverified: read.choice(SETTINGS.allowUnverified) === '1',
    limits: {
      maxVertices: read.number(SETTINGS.maxVertices),
      maxElements: read.number(SETTINGS.maxElements),
      maxMessageBytes: read.number(SETTINGS.maxMessageBytes),
      maxSessions,
      maxDeviceBytes: read.number(SETTINGS.maxDeviceBytes),
      maxQueue: read.number(SETTINGS.maxQueue),
      maxTimeBudgetSeconds: read.number(SETTINGS.maxTimeBudgetSeconds),
    },
    maxJsonBytes: read.number(SETTINGS.maxJsonBytes),
    maxSessionsPerTenant: read.number(SETTINGS.maxSessionsPerTenant) || maxSessions,
    maxQueueBytes: read.number(SETTINGS.maxQueueBytes),
    maxSessionBytes: read.number(SETTINGS.maxSessionBytes),
    idleTimeoutSeconds: read.number(SETTINGS.idleTimeoutSeconds),
    ...(trace === undefined || trace === '0' ? {} : { traceFolder: trace === '1' ? TRACE_FOLDER : trace }),
    ...(findingsFolder === undefined ? {} : { findingsFolder }),
  };
}

const TRACE_FOLDER = join(tmpdir(), 'interstice-traces');

function readTls(read: Reader): TlsFiles | undefined {
  const cert = read.text(SETTINGS.grpcTlsCert);
  const key = read.text(SETTINGS.grpcTlsKey);
  const clientCa = read.text(SETTINGS.grpcTlsClientCa);
  if (cert !== undefined && key !== undefined) return { cert, key, ...(clientCa === undefined ? {} : { clientCa }) };
  if (cert !== undefined || key !== undefined || clientCa !== undefined) {
    read.problems.push('TLS of gRPC needs both INTERSTICE_GRPC_TLS_CERT and INTERSTICE_GRPC_TLS_KEY.');
  }
  return undefined;
}

/** Only addresses that no other machine can reach; a name other than localhost could resolve to anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function warningsOf(environment: Environment, config: Pick<Config, 'adminHost' | 'adminPort' | 'apiKeys' | 'host'>) {
  const warnings: string[] = [];
  for (const name of Object.keys(environment)
    .filter((name) => name.startsWith('INTERSTICE_'))
    .sort()) {
    // No refusal: an orchestrator invents such names for a service of this name (INTERSTICE_SERVICE_HOST, ...).
    if (!NAMES.has(name) && !OTHER_VARIABLES.has(name)) warnings.push(`${name} is set, but there is no such setting.`);
  }
  if (config.apiKeys === undefined && !isLoopback(config.host)) {
    warnings.push('INTERSTICE_INSECURE=1: whoever can connect may use the service, nobody has to show a key.');
  }
  if (config.adminPort !== 'off' && !isLoopback(config.adminHost)) {
    warnings.push(`INTERSTICE_ADMIN_HOST is ${config.adminHost}: whoever can connect sees metrics and settings.`);
  }
  return warnings;
}
