import { availableParallelism } from 'node:os';

/** Every setting of the service: one table, read by the parser, by `--help`, by `--print-config` and by the docs. */

export interface Setting {
  /** environment variable, and name in a settings file */
  readonly name: string;
  /** as a person would write it; undefined = unset */
  readonly default: string | undefined;
  readonly unit?: string;
  /** inclusive */
  readonly range?: readonly [number, number];
  readonly choices?: readonly string[];
  readonly isInteger?: boolean;
  /** `off` is taken too */
  readonly canBeOff?: boolean;
  readonly description: string;
}

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

const number = (name: string, value: number, range: readonly [number, number], unit: string, description: string) =>
  ({ name, default: String(value), range, unit, isInteger: true, description }) as const satisfies Setting;

const seconds = (name: string, value: number, range: readonly [number, number], description: string) =>
  ({ name, default: String(value), range, unit: 'seconds', description }) as const satisfies Setting;

const text = (name: string, description: string) =>
  ({ name, default: undefined, description }) as const satisfies Setting;

const flag = (name: string, description: string) =>
  ({ name, default: '0', choices: ['0', '1'], description }) as const satisfies Setting;

/** What the arrays of a mesh can hold at all: a test compares it with the mesh room's own bound. */
const MAX_ROWS = 2 ** 27;

/** More memory than any machine has, and still exact as a double. */
const MAX_BYTES = 2 ** 50;

const PORTS = [0, 65535] as const;

export const SETTINGS = {
  config: text(
    'INTERSTICE_CONFIG',
    'File with settings: NAME=value a line, or a JSON object. The environment wins over it; it cannot name another file.',
  ),
  host: {
    name: 'INTERSTICE_HOST',
    default: '127.0.0.1',
    description:
      'Address that HTTP and gRPC listen on. Anything but a loopback address needs API keys, or INTERSTICE_INSECURE=1.',
  },
  httpPort: number('INTERSTICE_HTTP_PORT', 8080, PORTS, 'port', 'Port of the HTTP door; 0 takes any free one.'),
  grpcPort: {
    ...number('INTERSTICE_GRPC_PORT', 50051, PORTS, 'port', 'Port of the gRPC door; 0 takes any free one.'),
    canBeOff: true,
  },
  grpcTlsCert: text(
    'INTERSTICE_GRPC_TLS_CERT',
    'File with the certificate chain (PEM) of the gRPC door; without it gRPC is not encrypted. SIGHUP reads all three again.',
  ),
  grpcTlsKey: text('INTERSTICE_GRPC_TLS_KEY', 'File with the private key (PEM) of that certificate.'),
  grpcTlsClientCa: text(
    'INTERSTICE_GRPC_TLS_CLIENT_CA',
    'File with the authority (PEM) that signs the certificates of clients; every gRPC client must then show one.',
  ),
  adminHost: {
    name: 'INTERSTICE_ADMIN_HOST',
    default: '127.0.0.1',
    description: 'Address that the admin port listens on. Nobody has to show a key there.',
  },
  adminPort: {
    ...number(
      'INTERSTICE_ADMIN_PORT',
      9090,
      PORTS,
      'port',
      'Port of metrics, health and settings; 0 takes any free one.',
    ),
    canBeOff: true,
  },
  apiKeys: text(
    'INTERSTICE_API_KEYS',
    'File of API keys, a line a key: tenant:sha256hex[:priority]. SIGHUP reads it again. Without it nobody has to show a key.',
  ),
  insecure: flag(
    'INTERSTICE_INSECURE',
    '1 lets the service listen beyond this machine although nobody has to show a key.',
  ),
  engine: {
    name: 'INTERSTICE_ENGINE',
    default: 'auto',
    choices: ['auto', 'cpu', 'webgpu'],
    description: 'Which engine computes; auto says in GET /v1 and in every report what it chose.',
  },
  adapter: text('INTERSTICE_ADAPTER', 'Name, or part of it, of the graphics adapter to use.'),
  threads: number(
    'INTERSTICE_THREADS',
    Math.max(1, Math.min(256, availableParallelism())),
    [1, 256],
    'threads',
    'Requests computed at the same time; default one a core of this machine.',
  ),
  maxVertices: number('INTERSTICE_MAX_VERTICES', 4_000_000, [1, MAX_ROWS], 'vertices', 'Largest mesh taken.'),
  maxElements: number(
    'INTERSTICE_MAX_ELEMENTS',
    8_000_000,
    [1, MAX_ROWS],
    'elements',
    'Most triangles, segments, particles and tetrahedra together.',
  ),
  maxMessageBytes: number(
    'INTERSTICE_MAX_MESSAGE_BYTES',
    256 * MiB,
    // A JSON body becomes one string, and a string of V8 holds no more than 2^29 - 24 characters.
    [1024, 2 ** 29 - 24],
    'bytes',
    'Largest request body or message taken.',
  ),
  maxJsonBytes: number(
    'INTERSTICE_MAX_JSON_BYTES',
    32 * MiB,
    [1024, 2 ** 29 - 24],
    'bytes',
    'Largest JSON body taken; reading one takes several times its bytes of memory.',
  ),
  maxQueue: number('INTERSTICE_MAX_QUEUE', 64, [0, 100_000], 'requests', 'Requests that may wait; more are refused.'),
  maxQueueBytes: number(
    'INTERSTICE_MAX_QUEUE_BYTES',
    GiB,
    [0, MAX_BYTES],
    'bytes',
    'What the requests that wait may keep in memory; more are refused, but one may always wait. 0 = no limit.',
  ),
  maxTimeBudgetSeconds: seconds(
    'INTERSTICE_MAX_TIME_BUDGET_SECONDS',
    600,
    [0.001, 86_400],
    'Longest time budget that a request may ask for.',
  ),
  maxSessions: number(
    'INTERSTICE_MAX_SESSIONS',
    256,
    [0, 1_000_000],
    'sessions',
    'Open sessions of all tenants together.',
  ),
  maxSessionsPerTenant: number(
    'INTERSTICE_MAX_SESSIONS_PER_TENANT',
    0,
    [0, 1_000_000],
    'sessions',
    'Open sessions of one tenant; 0 = as many as the server may have.',
  ),
  idleTimeoutSeconds: seconds(
    'INTERSTICE_IDLE_TIMEOUT_SECONDS',
    900,
    [0, 86_400],
    'After so long without use a session ends, unless it was created with a time of its own; 0 = when it is deleted.',
  ),
  maxDeviceBytes: number(
    'INTERSTICE_MAX_DEVICE_BYTES',
    0,
    [0, MAX_BYTES],
    'bytes',
    'What lanes may hold for sessions, on the device and on the host; beyond it the least recently used are parked. 0 = no limit.',
  ),
  maxSessionBytes: number(
    'INTERSTICE_MAX_SESSION_BYTES',
    4 * GiB,
    [0, MAX_BYTES],
    'bytes',
    'Host memory for the meshes and states of all sessions; more is refused. 0 = no limit.',
  ),
  allowUnverified: flag(
    'INTERSTICE_ALLOW_UNVERIFIED',
    '1 lets requests ask for verify NONE: answers that nobody checked.',
  ),
  store: {
    name: 'INTERSTICE_STORE',
    default: 'memory',
    choices: ['memory'],
    description: 'Where sessions are kept; only memory exists.',
  },
  trace: text(
    'INTERSTICE_TRACE',
    'Folder that every resolve and step writes its states into (1: one for temporary files). For finding faults; slow.',
  ),
  findings: text(
    'INTERSTICE_FINDINGS',
    'Folder for reproductions of answers that the verifier refused; unset: one for temporary files.',
  ),
  drainSeconds: seconds(
    'INTERSTICE_DRAIN_SECONDS',
    30,
    [0, 3600],
    'How long a shutdown waits for the requests at work before it ends them.',
  ),
  logLevel: {
    name: 'INTERSTICE_LOG_LEVEL',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'Least level of the lines that are logged, as JSON on standard error.',
  },
} as const satisfies Record<string, Setting>;
