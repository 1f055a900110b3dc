import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IntersticeError } from '../contract/errors.js';
import type { Limits } from '../contract/server-info.js';
import { type Environment, Reader, type SettingValue } from './reader.js';
import type { Setting } from './setting.js';
import { MEMORY, SETTINGS } from './settings.js';
import { readSettingsFile } from './settings-file.js';
import { readStore, type StoreConfig, storeWarnings } from './store-config.js';

export type EngineChoice = 'auto' | 'cpu' | 'webgpu';
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** if set, clients must present a certificate that this authority signed */
  readonly clientCa?: string;
}

export interface Config {
  readonly host: string;
  readonly httpPort: number;
  readonly grpcPort: number | 'off';
  readonly grpcTls?: TlsFiles;
  /** 0 = no pings */
  readonly grpcKeepaliveSeconds: number;
  readonly adminHost: string;
  readonly adminPort: number | 'off';
  readonly capacityPort: number | 'off';
  /** path of the file of keys; absent = no key is required */
  readonly apiKeys?: string;
  /** lower case; absent = the loopback names if no key is required, otherwise every name */
  readonly allowedHosts?: readonly string[];
  /** origins whose pages may use the service; `*` = every one */
  readonly corsOrigins: readonly string[];
  readonly engine: EngineChoice;
  readonly adapter?: string;
  readonly shaderCache?: string;
  readonly threads: number;
  /** false: if scenes submit together, one thread is enough */
  readonly threadsAreSet: boolean;
  readonly cores: number;
  readonly allowUnverified: boolean;
  readonly limits: Limits;
  /** of an HTTP body in JSON; larger requests must use protobuf, bare positions or files */
  readonly maxJsonBytes: number;
  /** over all doors but admin; 0 = no limit */
  readonly maxConnections: number;
  /** 0 = half of the above */
  readonly maxConnectionsPerAddress: number;
  /** of the bodies of all requests; 0 = no limit */
  readonly maxBodyBytes: number;
  readonly maxSessionsPerTenant: number;
  /** of waiting requests; 0 = no limit */
  readonly maxQueueBytes: number;
  /** 0 = no limit */
  readonly maxSessionBytes: number;
  /** of the scenes of sessions on an engine that keeps them in host memory; 0 = limits.maxDeviceBytes applies to every engine */
  readonly maxSceneBytes: number;
  readonly maxJobs: number;
  readonly maxJobsPerTenant: number;
  /** of submitted jobs and their results; 0 = no limit */
  readonly maxJobBytes: number;
  readonly jobKeepSeconds: number;
  /** scenes = 1: every scene submits alone; delay in ms */
  readonly convoy: { readonly scenes: number; readonly delay: number };
  /** of the pairs of one request */
  readonly maxPairBytes: number;
  /** of the arrays that all requests compute on; 0 = no limit */
  readonly maxWorkBytes: number;
  /** 0 = until deleted */
  readonly idleTimeoutSeconds: number;
  readonly traceFolder?: string;
  readonly findingsFolder?: string;
  readonly drainSeconds: number;
  readonly drainJobSeconds: number;
  readonly drainNoticeSeconds: number;
  /** absent = sessions are kept in memory only */
  readonly store?: StoreConfig;
  readonly logLevel: LogLevel;
  /** problems that do not prevent the start, one sentence each */
  readonly warnings: readonly string[];
  /** the effective settings. None of them is a secret: keys and certificates are in files of their own. */
  readonly settings: readonly SettingValue[];
}

/** Variables that tests, benchmarks and the command line read. */
const OTHER_VARIABLES = new Set([
  'INTERSTICE_API_KEY',
  'INTERSTICE_DATA',
  'INTERSTICE_REQUIRE_GPU',
  'INTERSTICE_REQUIRE_BROWSER',
  'INTERSTICE_REQUIRE_REDIS',
  'INTERSTICE_RERUN_FAILED',
  'INTERSTICE_DEBUG',
  'INTERSTICE_FUZZ_SECONDS',
]);

const NAMES: ReadonlySet<string> = new Set(Object.values<Setting>(SETTINGS).map((setting) => setting.name));
const FLAGS: ReadonlySet<string> = new Set(
  Object.values<Setting>(SETTINGS).flatMap(({ name, choices }) => (choices?.join() === '0,1' ? [name] : [])),
);
const NAMES_IN_FILE: ReadonlySet<string> = new Set([...NAMES].filter((name) => name !== SETTINGS.config.name));

/**
 * Reads and checks all settings: the flags, then the environment, then the file that INTERSTICE_CONFIG names, then the
 * defaults. An empty variable counts as unset.
 *
 * @param flags values of the command line, by environment variable
 * @throws INVALID_PARAMETER that lists all problems, one per line
 */
export function readConfig(variables: Environment, flags: Environment = {}): Config {
  const environment = { ...variables, ...flags };
  const path = environment[SETTINGS.config.name];
  const file = path ? readSettingsFile(path, NAMES_IN_FILE, FLAGS) : { values: {}, problems: [] };
  const read = new Reader(environment, flags, file.values, [...file.problems]);
  const config = {
    ...readServing(read),
    ...readWork(read),
    ...readStore(read),
    warnings: [] as readonly string[],
    settings: read.settings(),
  };
  const { problems } = read;
  if (problems.length > 0) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The settings have ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}:\n- ${problems.join('\n- ')}`,
      { hint: 'Correct the environment variables or the file; docs/operations.md lists every setting with its range.' },
    );
  }
  return { ...config, warnings: [...warningsOf(environment, config), ...storeWarnings(read)] };
}

/** Addresses, keys, TLS, logging and shutdown. */
function readServing(read: Reader) {
  const host = read.text(SETTINGS.host) ?? '';
  const isInsecure = read.choice(SETTINGS.insecure) === '1';
  const apiKeys = read.text(SETTINGS.apiKeys);
  if (!isLoopback(host) && apiKeys === undefined && !isInsecure) {
    read.problems.push(
      `INTERSTICE_HOST is ${JSON.stringify(host)}, which other machines can reach, and there are no API keys: name a file of keys in INTERSTICE_API_KEYS, listen on 127.0.0.1, or set INTERSTICE_INSECURE=1 if everyone who can connect may use the service.`,
    );
  }
  const grpcTls = readTls(read);
  return {
    host,
    httpPort: read.number(SETTINGS.httpPort),
    grpcPort: read.numberOrOff(SETTINGS.grpcPort),
    ...(grpcTls ? { grpcTls } : {}),
    grpcKeepaliveSeconds: read.number(SETTINGS.grpcKeepaliveSeconds),
    adminHost: read.text(SETTINGS.adminHost) ?? '',
    adminPort: read.numberOrOff(SETTINGS.adminPort),
    capacityPort: read.numberOrOff(SETTINGS.capacityPort),
    ...(apiKeys === undefined ? {} : { apiKeys }),
    ...readBrowsing(read),
    drainSeconds: read.number(SETTINGS.drainSeconds),
    drainJobSeconds: read.number(SETTINGS.drainJobSeconds),
    drainNoticeSeconds: read.number(SETTINGS.drainNoticeSeconds),
    logLevel: read.choice(SETTINGS.logLevel) as LogLevel,
  };
}

/** What web pages may do. */
function readBrowsing(read: Reader) {
  const allowedHosts = read.list(SETTINGS.allowedHosts);
  for (const host of allowedHosts.filter((name) => !/^(\*|[^\s:/@*[\]]+|\[[0-9a-f:.]+\])$/.test(name))) {
    read.problems.push(
      `INTERSTICE_ALLOWED_HOSTS contains ${JSON.stringify(host)}, expected a host name or address without scheme and port, or *.`,
    );
  }
  const corsOrigins = read.list(SETTINGS.corsOrigins);
  for (const origin of corsOrigins.filter((one) => one !== '*' && !isOrigin(one))) {
    read.problems.push(
      `INTERSTICE_CORS_ORIGINS contains ${JSON.stringify(origin)}, expected an origin like https://app.example.com without a path, or *.`,
    );
  }
  return { ...(allowedHosts.length > 0 ? { allowedHosts } : {}), corsOrigins };
}

/** A scheme, a host, and a port if it is not that of the scheme; browser extensions have schemes of their own. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text) || !URL.canParse(text)) return false;
  return !/^https?:/.test(text) || new URL(text).origin === text;
}

/** Engine, limits and sessions. */
function readWork(read: Reader) {
  const adapter = read.text(SETTINGS.adapter);
  const shaderCache = read.text(SETTINGS.shaderCache);
  const trace = read.text(SETTINGS.trace);
  const findingsFolder = read.text(SETTINGS.findings);
  const maxSessions = read.number(SETTINGS.maxSessions);
  const maxJobs = read.number(SETTINGS.maxJobs);
  const maxDeviceBytes = read.numberOrAuto(SETTINGS.maxDeviceBytes);
  return {
    engine: read.choice(SETTINGS.engine) as EngineChoice,
    ...(adapter === undefined ? {} : { adapter }),
    ...(shaderCache === undefined ? {} : { shaderCache }),
    threads: read.number(SETTINGS.threads),
    threadsAreSet: read.isSet(SETTINGS.threads),
    cores: read.number(SETTINGS.cores),
    allowUnverified: read.choice(SETTINGS.allowUnverified) === '1',
    limits: {
      maxVertices: read.number(SETTINGS.maxVertices),
      maxElements: read.number(SETTINGS.maxElements),
      maxMessageBytes: read.number(SETTINGS.maxMessageBytes),
      maxSessions,
      maxDeviceBytes: maxDeviceBytes === 'auto' ? 0 : maxDeviceBytes,
      maxQueue: read.number(SETTINGS.maxQueue),
      ...readTimeBudgets(read),
    },
    maxJsonBytes: read.number(SETTINGS.maxJsonBytes),
    maxConnections: read.number(SETTINGS.maxConnections),
    maxConnectionsPerAddress: read.number(SETTINGS.maxConnectionsPerAddress),
    maxBodyBytes: read.number(SETTINGS.maxBodyBytes),
    maxSessionsPerTenant: read.number(SETTINGS.maxSessionsPerTenant) || maxSessions,
    maxQueueBytes: read.number(SETTINGS.maxQueueBytes),
    maxSessionBytes: read.number(SETTINGS.maxSessionBytes),
    maxSceneBytes: maxDeviceBytes === 'auto' ? MEMORY.scenes : 0,
    maxJobs,
    maxJobsPerTenant: read.number(SETTINGS.maxJobsPerTenant) || maxJobs,
    maxJobBytes: read.number(SETTINGS.maxJobBytes),
    jobKeepSeconds: read.number(SETTINGS.jobKeepSeconds),
    convoy: { scenes: read.number(SETTINGS.convoyScenes), delay: read.number(SETTINGS.convoyDelayMs) },
    maxPairBytes: read.number(SETTINGS.maxPairBytes),
    maxWorkBytes: read.number(SETTINGS.maxWorkBytes),
    idleTimeoutSeconds: read.number(SETTINGS.idleTimeoutSeconds),
    ...(trace === undefined || trace === '0' ? {} : { traceFolder: trace === '1' ? TRACE_FOLDER : trace }),
    ...(findingsFolder === undefined ? {} : { findingsFolder }),
  };
}

/** A default beyond the longest budget is that one: who lowers the limit need not lower both. */
function readTimeBudgets(read: Reader): Pick<Limits, 'maxTimeBudgetSeconds' | 'defaultTimeBudgetSeconds'> {
  const maxTimeBudgetSeconds = read.number(SETTINGS.maxTimeBudgetSeconds);
  const given = read.number(SETTINGS.defaultTimeBudgetSeconds);
  const isNone = given === 0;
  return {
    maxTimeBudgetSeconds,
    ...(isNone ? {} : { defaultTimeBudgetSeconds: Math.min(given, maxTimeBudgetSeconds) }),
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

/** Whether no other machine can reach the address. A name other than localhost could resolve to any address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function warningsOf(environment: Environment, config: Pick<Config, 'adminHost' | 'adminPort' | 'apiKeys' | 'host'>) {
  // Not an error: orchestrators define such names for a service of this name (INTERSTICE_SERVICE_HOST, ...).
  const warnings = Object.keys(environment)
    .filter((name) => name.startsWith('INTERSTICE_') && !NAMES.has(name) && !OTHER_VARIABLES.has(name))
    .sort()
    .map((name) => `${name} is set, but there is no such setting.`);
  if (config.apiKeys === undefined && !isLoopback(config.host)) {
    warnings.push('INTERSTICE_INSECURE=1: everyone who can connect may use the service without an API key.');
  }
  if (config.adminPort !== 'off' && !isLoopback(config.adminHost)) {
    warnings.push(`INTERSTICE_ADMIN_HOST is ${config.adminHost}: everyone who can connect sees metrics and settings.`);
  }
  return warnings;
}
