import { availableParallelism } from 'node:os';
import { IntersticeError } from './errors.js';
import type { Limits } from './session/types.js';

/** Every setting of the service: one table, read by the parser, by `--help` and by the docs. */

export type EngineChoice = 'auto' | 'cpu' | 'webgpu';
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export interface Config {
  readonly host: string;
  readonly httpPort: number;
  /** accepted, not served yet */
  readonly grpcPort: number;
  /** accepted, not served yet */
  readonly adminPort: number;
  readonly engine: EngineChoice;
  readonly adapter?: string;
  readonly threads: number;
  readonly allowUnverified: boolean;
  readonly limits: Limits;
  readonly drainSeconds: number;
  readonly logLevel: LogLevel;
  /** things worth saying at start that do not stop it */
  readonly warnings: readonly string[];
}

export interface Setting {
  /** environment variable */
  readonly name: string;
  /** as a person would write it; undefined = unset */
  readonly default: string | undefined;
  readonly unit?: string;
  /** inclusive */
  readonly range?: readonly [number, number];
  readonly choices?: readonly string[];
  readonly isInteger?: boolean;
  readonly description: string;
}

const MiB = 1024 * 1024;

const number = (name: string, value: number, range: readonly [number, number], unit: string, description: string) =>
  ({ name, default: String(value), range, unit, isInteger: true, description }) as const satisfies Setting;

/** What the arrays of a mesh can hold at all: a test compares it with the mesh room's own bound. */
const MOST_ROWS = 2 ** 27;

const PORTS = [0, 65535] as const;

export const SETTINGS = {
  host: {
    name: 'INTERSTICE_HOST',
    default: '127.0.0.1',
    description: 'Address to listen on. Anything but a loopback address needs INTERSTICE_INSECURE=1 until keys exist.',
  },
  httpPort: number('INTERSTICE_HTTP_PORT', 8080, PORTS, 'port', 'Port of the HTTP door; 0 takes any free one.'),
  grpcPort: number('INTERSTICE_GRPC_PORT', 50051, PORTS, 'port', 'Port of the gRPC door; not served yet.'),
  adminPort: number(
    'INTERSTICE_ADMIN_PORT',
    9090,
    PORTS,
    'port',
    'Port of metrics and administration; not served yet.',
  ),
  engine: {
    name: 'INTERSTICE_ENGINE',
    default: 'auto',
    choices: ['auto', 'cpu', 'webgpu'],
    description: 'Which engine computes; auto says in GET /v1 and in every report what it chose.',
  },
  adapter: {
    name: 'INTERSTICE_ADAPTER',
    default: undefined,
    description: 'Name, or part of it, of the graphics adapter to use.',
  },
  threads: number(
    'INTERSTICE_THREADS',
    Math.max(1, Math.min(256, availableParallelism())),
    [1, 256],
    'threads',
    'Requests computed at the same time; default one a core of this machine.',
  ),
  maxVertices: number('INTERSTICE_MAX_VERTICES', 4_000_000, [1, MOST_ROWS], 'vertices', 'Largest mesh taken.'),
  maxElements: number(
    'INTERSTICE_MAX_ELEMENTS',
    8_000_000,
    [1, MOST_ROWS],
    'elements',
    'Most triangles, segments, particles and tetrahedra together.',
  ),
  maxMessageBytes: number(
    'INTERSTICE_MAX_MESSAGE_BYTES',
    256 * MiB,
    // A JSON body becomes one string, and a string of V8 holds no more than 2^29 - 24 characters.
    [1024, 2 ** 29 - 24],
    'bytes',
    'Largest request body taken.',
  ),
  maxQueue: number('INTERSTICE_MAX_QUEUE', 64, [0, 100_000], 'requests', 'Requests that may wait; more are refused.'),
  maxTimeBudgetSeconds: {
    name: 'INTERSTICE_MAX_TIME_BUDGET_SECONDS',
    default: '600',
    range: [0.001, 86_400],
    unit: 'seconds',
    description: 'Longest time budget that a request may ask for.',
  },
  drainSeconds: {
    name: 'INTERSTICE_DRAIN_SECONDS',
    default: '30',
    range: [0, 3600],
    unit: 'seconds',
    description: 'How long a shutdown waits for the requests at work before it ends them.',
  },
  logLevel: {
    name: 'INTERSTICE_LOG_LEVEL',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'Least level of the lines that are logged, as JSON on standard error.',
  },
  allowUnverified: {
    name: 'INTERSTICE_ALLOW_UNVERIFIED',
    default: '0',
    choices: ['0', '1'],
    description: '1 lets requests ask for verify NONE: answers that nobody checked.',
  },
  insecure: {
    name: 'INTERSTICE_INSECURE',
    default: '0',
    choices: ['0', '1'],
    description: '1 lets the service listen beyond this machine although nobody has to show a key.',
  },
  apiKeys: {
    name: 'INTERSTICE_API_KEYS',
    default: undefined,
    description: 'File of API keys; not built yet: setting it refuses to start.',
  },
  store: {
    name: 'INTERSTICE_STORE',
    default: 'memory',
    choices: ['memory'],
    description: 'Where sessions are kept; only memory exists.',
  },
} as const satisfies Record<string, Setting>;

/** Read elsewhere: by tests, benchmarks, the command line. */
const OTHER_VARIABLES = new Set(['INTERSTICE_DATA', 'INTERSTICE_REQUIRE_GPU', 'INTERSTICE_DEBUG']);

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks all settings. An empty variable counts as unset.
 * @throws INVALID_PARAMETER that lists every problem at once, a line each
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const text = (setting: Setting): string | undefined => environment[setting.name] || setting.default;
  const choice = (setting: Setting): string => {
    const value = text(setting) ?? '';
    if (!setting.choices?.includes(value)) {
      problems.push(`${setting.name} is ${JSON.stringify(value)}, expected ${setting.choices?.join(' or ')}.`);
    }
    return value;
  };
  const numeric = (setting: Setting): number => {
    const given = text(setting) ?? '';
    const value = /^\d+(\.\d+)?$/.test(given.trim()) ? Number(given) : Number.NaN;
    const [least, most] = setting.range ?? [0, Number.MAX_SAFE_INTEGER];
    if (!(value >= least && value <= most) || (setting.isInteger && !Number.isInteger(value))) {
      const kind = setting.isInteger ? 'a whole number' : 'a number';
      problems.push(
        `${setting.name} is ${JSON.stringify(given)}, expected ${kind} from ${least} to ${most} (${setting.unit}).`,
      );
    }
    return value;
  };

  const host = text(SETTINGS.host) ?? '';
  const insecure = choice(SETTINGS.insecure) === '1';
  if (!isLoopback(host) && !insecure) {
    problems.push(
      `INTERSTICE_HOST is ${JSON.stringify(host)}, which others can reach, and there are no API keys: listen on 127.0.0.1, or set INTERSTICE_INSECURE=1 if whoever can connect may use the service.`,
    );
  }
  if (environment.INTERSTICE_API_KEYS) {
    problems.push('INTERSTICE_API_KEYS is set, but API keys are not built yet: unset it.');
  }
  if (environment.INTERSTICE_TRACE) {
    problems.push('INTERSTICE_TRACE is set, but tracing is not built yet: unset it.');
  }
  choice(SETTINGS.store);
  const adapter = text(SETTINGS.adapter);
  const config: Config = {
    host,
    httpPort: numeric(SETTINGS.httpPort),
    grpcPort: numeric(SETTINGS.grpcPort),
    adminPort: numeric(SETTINGS.adminPort),
    engine: choice(SETTINGS.engine) as EngineChoice,
    ...(adapter === undefined ? {} : { adapter }),
    threads: numeric(SETTINGS.threads),
    allowUnverified: choice(SETTINGS.allowUnverified) === '1',
    limits: {
      maxVertices: numeric(SETTINGS.maxVertices),
      maxElements: numeric(SETTINGS.maxElements),
      maxMessageBytes: numeric(SETTINGS.maxMessageBytes),
      // Sessions and devices come later: this build holds none.
      maxSessions: 0,
      maxDeviceBytes: 0,
      maxQueue: numeric(SETTINGS.maxQueue),
      maxTimeBudgetSeconds: numeric(SETTINGS.maxTimeBudgetSeconds),
    },
    drainSeconds: numeric(SETTINGS.drainSeconds),
    logLevel: choice(SETTINGS.logLevel) as LogLevel,
    warnings: warningsOf(environment),
  };
  if (problems.length > 0) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The settings have ${problems.length} problem(s):\n- ${problems.join('\n- ')}`,
      {
        hint: 'Correct the environment variables; the reference lists every setting with its range.',
      },
    );
  }
  return config;
}

/** Only addresses that no other machine can reach; a name other than localhost could resolve to anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function warningsOf(environment: Environment): string[] {
  const known = new Set<string>(Object.values(SETTINGS).map((setting) => setting.name));
  const warnings: string[] = [];
  for (const name of Object.keys(environment)
    .filter((name) => name.startsWith('INTERSTICE_'))
    .sort()) {
    // No refusal: an orchestrator invents such names for a service of this name (INTERSTICE_SERVICE_HOST, ...).
    if (!known.has(name) && !OTHER_VARIABLES.has(name)) warnings.push(`${name} is set, but there is no such setting.`);
  }
  for (const setting of [SETTINGS.grpcPort, SETTINGS.adminPort]) {
    if (environment[setting.name]) warnings.push(`${setting.name} is set, but nothing is served there yet.`);
  }
  if (environment.INTERSTICE_INSECURE === '1') warnings.push('INTERSTICE_INSECURE=1: nobody has to show a key.');
  return warnings;
}

/** One line a setting, for `--help` and the docs. */
export function describeConfig(): string {
  const lines = Object.values<Setting>(SETTINGS).map((setting) => {
    const values = setting.choices
      ? setting.choices.join(' | ')
      : setting.range
        ? `${setting.range[0]} to ${setting.range[1]} ${setting.unit}`
        : 'text';
    const fallback = setting === SETTINGS.threads ? 'one a core' : (setting.default ?? 'unset');
    return `${setting.name}  (${values}; default ${fallback})\n    ${setting.description}`;
  });
  return lines.join('\n');
}
