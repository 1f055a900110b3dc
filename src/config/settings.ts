import { availableParallelism } from 'node:os';
import { DEFAULT_JOB_KEEP_SECONDS, MAX_JOB_KEEP_SECONDS } from '../contract/long-jobs.js';
import { DEFAULT_IDLE_TIMEOUT_SECONDS, MAX_IDLE_TIMEOUT_SECONDS } from '../contract/sessions.js';
import { memoryBytes, openFileLimit } from './machine.js';
import { divideMemory } from './memory-shares.js';
import { flag, number, type Setting, seconds, text } from './setting.js';

const MiB = 1024 * 1024;

/** The largest number of rows in an array of a mesh; a test compares it with STRUCTURAL_LIMITS of src/mesh. */
const MAX_ROWS = 2 ** 27;

/** More memory than any machine has, and still an exact double. */
const MAX_BYTES = 2 ** 50;

const PORTS = [0, 65535] as const;

const cores = Math.max(1, Math.min(256, availableParallelism()));

/** What the defaults give to each use of the memory. */
export const MEMORY = divideMemory(memoryBytes());

/**
 * Files that a process without connections has open, and a reserve for threads, files, and the admin port: 25 descriptors
 * were counted on the engine cpu, 41 on webgpu with one lane and a software driver, some 10 more for every further lane.
 */
const reservedFiles = 64 + 12 * cores;
const MOST_CONNECTIONS = 4096;
const connections = Math.max(8, Math.min(MOST_CONNECTIONS, (openFileLimit() ?? 1024) - reservedFiles));

/** The table that the parser, `--help`, `--print-config` and docs/operations.md read. */
export const SETTINGS = {
  config: text(
    'INTERSTICE_CONFIG',
    'File with settings: lines of NAME=value, or a JSON object. The environment takes precedence; the file cannot name another file.',
  ),
  host: {
    name: 'INTERSTICE_HOST',
    default: '127.0.0.1',
    description:
      'Address that HTTP and gRPC listen on. Any address but a loopback address requires API keys or INTERSTICE_INSECURE=1.',
  },
  httpPort: number('INTERSTICE_HTTP_PORT', 8080, PORTS, 'port', 'HTTP port; 0 selects a free port.'),
  grpcPort: {
    ...number('INTERSTICE_GRPC_PORT', 50051, PORTS, 'port', 'gRPC port; 0 selects a free port.'),
    canBeOff: true,
  },
  grpcTlsCert: text(
    'INTERSTICE_GRPC_TLS_CERT',
    'File with the certificate chain (PEM) of the gRPC server; without it gRPC is not encrypted. SIGHUP reloads all three TLS files.',
  ),
  grpcTlsKey: text('INTERSTICE_GRPC_TLS_KEY', 'File with the private key (PEM) of that certificate.'),
  grpcTlsClientCa: text(
    'INTERSTICE_GRPC_TLS_CLIENT_CA',
    'File with the authority (PEM) that signs client certificates; if set, every gRPC client must present a certificate.',
  ),
  grpcKeepaliveSeconds: seconds(
    'INTERSTICE_GRPC_KEEPALIVE_SECONDS',
    600,
    [0, 86_400],
    'Time that a gRPC client may leave a ping unanswered before its connection is closed. A client with a single thread answers no pings while it computes. The service pings once a minute, or more often if this time is shorter. 0 = no pings.',
  ),
  adminHost: {
    name: 'INTERSTICE_ADMIN_HOST',
    default: '127.0.0.1',
    description: 'Address that the admin port listens on. The admin port requires no API key.',
  },
  adminPort: {
    ...number(
      'INTERSTICE_ADMIN_PORT',
      9090,
      PORTS,
      'port',
      'Port of metrics, health and settings; 0 selects a free port.',
    ),
    canBeOff: true,
  },
  capacityPort: {
    ...number(
      'INTERSTICE_CAPACITY_PORT',
      9091,
      PORTS,
      'port',
      'Port, at the address of the admin port, that answers every connection with the free capacity of this process as a line like 75%, for the agent-check of HAProxy; 0 selects a free port.',
    ),
    default: 'off',
    canBeOff: true,
  },
  apiKeys: text(
    'INTERSTICE_API_KEYS',
    'File of API keys, one per line: tenant:sha256hex[:priority]. SIGHUP reloads it. Without it no key is required.',
  ),
  allowedHosts: text(
    'INTERSTICE_ALLOWED_HOSTS',
    'Host names that requests may use besides the loopback names, separated by commas, without port; * = every name. Unset: a service without API keys answers to loopback names only (and to IP addresses, if it listens beyond loopback); one with keys answers to every name. The admin port has no keys and always checks names.',
  ),
  corsOrigins: text(
    'INTERSTICE_CORS_ORIGINS',
    'Origins whose web pages may use the service over HTTP (CORS), separated by commas, as in https://app.example.com; * = every page. Unset: none.',
  ),
  insecure: flag(
    'INTERSTICE_INSECURE',
    '1 allows an address that other machines can reach although no API key is required.',
  ),
  engine: {
    name: 'INTERSTICE_ENGINE',
    default: 'auto',
    choices: ['auto', 'cpu', 'webgpu'],
    description: 'Engine that computes the answers; GET /v1 and every report name the engine that auto selected.',
  },
  adapter: text(
    'INTERSTICE_ADAPTER',
    'Graphics adapter to use: words of its name in any case, or the address of its card, as in pci:0000:41:00.0, or both.',
  ),
  shaderCache: text(
    'INTERSTICE_SHADER_CACHE',
    'Folder in which graphics drivers keep compiled kernels between starts. Unset: the cache folder of the user, or a temporary folder if that is not writable.',
  ),
  threads: number(
    'INTERSTICE_THREADS',
    cores,
    [1, 256],
    'threads',
    'Number of requests of one kind (steps of sessions, ordinary, large, heavy, BATCH) that are computed at the same time; of heavy ones, on meshes of more than 200,000 elements, half as many. The default is one per core, or one if scenes submit together (INTERSTICE_CONVOY_SCENES). With the engine webgpu every thread opens its own device.',
  ),
  cores: number(
    'INTERSTICE_CORES',
    cores,
    [1, 256],
    'threads',
    'Number of threads that compute at the same time, by default one per core. A large request on the engine cpu uses cores that other requests leave idle. 1 = every request computes on its own thread only.',
  ),
  maxVertices: number(
    'INTERSTICE_MAX_VERTICES',
    4_000_000,
    [1, MAX_ROWS],
    'vertices',
    'Largest number of vertices in a mesh.',
  ),
  maxElements: number(
    'INTERSTICE_MAX_ELEMENTS',
    8_000_000,
    [1, MAX_ROWS],
    'elements',
    'Largest number of triangles, segments, particles and tetrahedra in a mesh, all together.',
  ),
  maxMessageBytes: number(
    'INTERSTICE_MAX_MESSAGE_BYTES',
    256 * MiB,
    // A JSON body becomes one string, and a string of V8 holds no more than 2^29 - 24 characters.
    [1024, 2 ** 29 - 24],
    'bytes',
    'Largest size of a request body or message.',
  ),
  maxJsonBytes: number(
    'INTERSTICE_MAX_JSON_BYTES',
    32 * MiB,
    [1024, 2 ** 29 - 24],
    'bytes',
    'Largest size of a JSON body, and of the options of a form; decoding takes several times as much memory.',
  ),
  maxBodyBytes: number(
    'INTERSTICE_MAX_BODY_BYTES',
    MEMORY.bodies,
    [0, MAX_BYTES],
    'bytes',
    'Memory for the bodies of all requests on both ports, from the first byte to the answer. A request whose body finds no room is refused before it is read. A client (the tenant of a key, or else an address) may use half, and an eighth is reserved for bodies of at most 64 KiB. If there is no other body, a body of any size is accepted. 0 = no limit.',
  ),
  maxConnections: number(
    'INTERSTICE_MAX_CONNECTIONS',
    connections,
    [0, 1_000_000],
    'connections',
    'Open connections of HTTP and gRPC together; the admin port is exempt. A further connection replaces the one that has been idle for longest, and is refused if none is idle. 0 = no limit.',
  ),
  maxConnectionsPerAddress: number(
    'INTERSTICE_MAX_CONNECTIONS_PER_ADDRESS',
    0,
    [0, 1_000_000],
    'connections',
    'Open connections of one address (IPv6: of its first 64 bits); 0 = half of all. Behind a proxy, which has one address for all its clients, set it to INTERSTICE_MAX_CONNECTIONS.',
  ),
  maxQueue: number(
    'INTERSTICE_MAX_QUEUE',
    64,
    [0, 100_000],
    'requests',
    'Number of requests that may wait; further requests are refused.',
  ),
  maxQueueBytes: number(
    'INTERSTICE_MAX_QUEUE_BYTES',
    MEMORY.queue,
    [0, MAX_BYTES],
    'bytes',
    'Memory that waiting requests may hold; further requests are refused, but one may always wait. 0 = no limit.',
  ),
  maxTimeBudgetSeconds: seconds(
    'INTERSTICE_MAX_TIME_BUDGET_SECONDS',
    600,
    [0.001, 86_400],
    'Longest time budget that a request may ask for.',
  ),
  defaultTimeBudgetSeconds: seconds(
    'INTERSTICE_DEFAULT_TIME_BUDGET_SECONDS',
    600,
    [0, 86_400],
    'Time budget of requests that name none, at most INTERSTICE_MAX_TIME_BUDGET_SECONDS. A resolve, a step or an untangling then returns the state that it has reached; a check, a diagnosis or the creation of a session is refused. 0 = none.',
  ),
  maxSessions: number(
    'INTERSTICE_MAX_SESSIONS',
    256,
    [0, 1_000_000],
    'sessions',
    'Open sessions of all tenants together; 0 = none can be created (UNIMPLEMENTED).',
  ),
  maxSessionsPerTenant: number(
    'INTERSTICE_MAX_SESSIONS_PER_TENANT',
    0,
    [0, 1_000_000],
    'sessions',
    'Open sessions of one tenant; 0 = the limit of the server.',
  ),
  idleTimeoutSeconds: seconds(
    'INTERSTICE_IDLE_TIMEOUT_SECONDS',
    DEFAULT_IDLE_TIMEOUT_SECONDS,
    [0, MAX_IDLE_TIMEOUT_SECONDS],
    'Time without use after which a session ends, unless its client asked for another time; 0 = until deleted.',
  ),
  convoyScenes: number(
    'INTERSTICE_CONVOY_SCENES',
    1,
    [1, 64],
    'scenes',
    'Number of scenes of small meshes (up to 3,072 vertices) that a thread of the engine webgpu computes at the same time and submits to the device together. It is also the largest number of scenes in one submission. 1 = every scene alone. A device first proves that its kernels for scenes together compute the same as those for one scene; otherwise, or if INTERSTICE_MAX_DEVICE_BYTES has no room for three small scenes, a warning says so and every scene submits alone.',
  ),
  convoyDelayMs: number(
    'INTERSTICE_CONVOY_DELAY_MS',
    2,
    [0, 1000],
    'milliseconds',
    'Longest time that the work of a scene waits for the work of other scenes before it is submitted. Reports count this time, and the time of the other scenes, in the stage forward.',
  ),
  maxDeviceBytes: {
    ...number(
      'INTERSTICE_MAX_DEVICE_BYTES',
      0,
      [0, MAX_BYTES],
      'bytes',
      'Memory that worker threads may hold for sessions, on device and host; beyond it the least recently used sessions are parked. On a device it also limits all buffers of all requests together, including those that grow during a step. 0 = no limit; auto = no limit on a graphics card, and for sessions on the engine cpu or a software adapter what the other defaults leave of the memory, at least an eighth (GET /v1 tells it).',
    ),
    default: 'auto',
    canBeAuto: true,
  },
  maxPairBytes: number(
    'INTERSTICE_MAX_PAIR_BYTES',
    MEMORY.pairs,
    [MiB, MAX_BYTES],
    'bytes',
    'Memory for the pairs of one request with their candidates and contacts: 192 bytes per pair, at most 24 million pairs. A request that needs more is refused as too large.',
  ),
  maxWorkBytes: number(
    'INTERSTICE_MAX_WORK_BYTES',
    MEMORY.work,
    [0, MAX_BYTES],
    'bytes',
    'Host memory for the arrays that all requests together compute on, including memory that is kept for the next requests. A request that finds no room is refused and may be sent again. 0 = no limit.',
  ),
  maxSessionBytes: number(
    'INTERSTICE_MAX_SESSION_BYTES',
    MEMORY.sessions,
    [0, MAX_BYTES],
    'bytes',
    'Host memory for the meshes and states of all sessions; requests that need more are refused. 0 = no limit.',
  ),
  maxJobs: number(
    'INTERSTICE_MAX_JOBS',
    64,
    [0, 100_000],
    'jobs',
    'Number of submitted jobs of all tenants together that wait, run, or are kept with their results; 0 = none can be submitted (UNIMPLEMENTED).',
  ),
  maxJobsPerTenant: number(
    'INTERSTICE_MAX_JOBS_PER_TENANT',
    0,
    [0, 100_000],
    'jobs',
    'The same for one tenant; 0 = the limit of the server.',
  ),
  maxJobBytes: number(
    'INTERSTICE_MAX_JOB_BYTES',
    MEMORY.jobs,
    [0, MAX_BYTES],
    'bytes',
    'Host memory for the requests of submitted jobs and for the results that are kept; further jobs are refused. 0 = no limit.',
  ),
  jobKeepSeconds: seconds(
    'INTERSTICE_JOB_KEEP_SECONDS',
    DEFAULT_JOB_KEEP_SECONDS,
    [1, MAX_JOB_KEEP_SECONDS],
    'Time that a submitted job and its result are kept after its end, unless its client asked for another time.',
  ),
  allowUnverified: flag(
    'INTERSTICE_ALLOW_UNVERIFIED',
    '1 allows requests with verify NONE, whose answers are not verified.',
  ),
  store: {
    name: 'INTERSTICE_STORE',
    default: 'memory',
    description:
      'Where sessions are kept: memory = in this process only; redis://HOST:PORT/DATABASE or rediss://… (encrypted) = also in a Redis or Valkey server, so that they outlive the process and any process with the same store can continue them. A user name may be part of the URL, a password may not.',
  },
  storePassword: text('INTERSTICE_STORE_PASSWORD_FILE', 'File whose first line is the password of the store.'),
  storeCa: text(
    'INTERSTICE_STORE_CA',
    'File with the authority (PEM) that signed the certificate of a rediss:// store; unset = the authorities that Node trusts.',
  ),
  storePrefix: {
    name: 'INTERSTICE_STORE_PREFIX',
    default: 'interstice',
    description: 'First part of every key in the store: letters, digits, dots and hyphens. One per deployment.',
  },
  storeTimeoutSeconds: seconds(
    'INTERSTICE_STORE_TIMEOUT_SECONDS',
    2,
    [0.05, 60],
    'Time that the store may take for one answer; a second more a megabyte for large values. After that it counts as down until it accepts a write again; a large value that is late fails only what it is for.',
  ),
  storeFailure: {
    name: 'INTERSTICE_STORE_FAILURE',
    default: 'refuse',
    choices: ['refuse', 'continue'],
    description:
      'While the store is down: refuse = operations on sessions are refused (STORE_UNAVAILABLE, to be sent again) and /readyz says so; continue = sessions in memory continue, each answer warns (NOT_STORED), and the frames are written when the store is back; they are lost if the process ends before that.',
  },
  storeDurability: {
    name: 'INTERSTICE_STORE_DURABILITY',
    default: 'any',
    choices: ['any', 'everysec', 'always'],
    description:
      'What the store must keep when it ends without warning; a store that keeps less is refused at start-up. any = no requirement; everysec = all but the last second (appendonly yes, appendfsync everysec); always = every accepted frame (appendfsync always).',
  },
  storeReplicas: number(
    'INTERSTICE_STORE_REPLICAS',
    0,
    [0, 16],
    'replicas',
    'Number of replicas of the store that must have a frame before its answer is sent (WAIT).',
  ),
  trace: text(
    'INTERSTICE_TRACE',
    'Folder into which every resolve, step and untangling writes its states (1 selects a temporary folder). For finding faults; slow.',
  ),
  findings: text(
    'INTERSTICE_FINDINGS',
    'Folder for reproductions of answers that the verifier refused: the first 100 of a process, with at most 1 GiB together. Unset selects a temporary folder.',
  ),
  drainSeconds: seconds(
    'INTERSTICE_DRAIN_SECONDS',
    30,
    [0, 3600],
    'Time that a shutdown waits for running requests before it ends them.',
  ),
  drainJobSeconds: seconds(
    'INTERSTICE_DRAIN_JOB_SECONDS',
    0,
    [0, 86_400],
    'Time that a shutdown waits for submitted jobs to end and for their results to be fetched. 0 = not at all.',
  ),
  drainNoticeSeconds: seconds(
    'INTERSTICE_DRAIN_NOTICE_SECONDS',
    0,
    [0, 600],
    'Time at the beginning of a shutdown in which requests are still served while /readyz and gRPC health already report the shutdown, so that a proxy stops sending before anything is refused.',
  ),
  logLevel: {
    name: 'INTERSTICE_LOG_LEVEL',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'Lowest level that is logged, as JSON lines on standard error.',
  },
} as const satisfies Record<string, Setting>;
