import t from 'tap';
import { isLoopback, readConfig } from '../../src/config/config.js';
import { tabulateConfig } from '../../src/config/describe-settings.js';
import { SETTINGS } from '../../src/config/settings.js';
import { IntersticeError } from '../../src/contract/errors.js';
import { STRUCTURAL_LIMITS } from '../../src/mesh/limits.js';

const problemsOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof IntersticeError && error.code === 'INVALID_PARAMETER') return error.message;
    throw error;
  }
  return 'accepted';
};

t.test('without any setting the service listens on this machine only', async (t) => {
  const config = readConfig({});
  t.match(config, { host: '127.0.0.1', httpPort: 8080, engine: 'auto', allowUnverified: false, logLevel: 'info' });
  t.match(config, {
    grpcPort: 50051,
    grpcKeepaliveSeconds: 600,
    adminHost: '127.0.0.1',
    adminPort: 9090,
    capacityPort: 'off',
    idleTimeoutSeconds: 900,
  });
  t.match(config, { limits: { maxSessions: 256, maxDeviceBytes: 0 }, maxSessionsPerTenant: 256 });
  t.ok(config.maxSceneBytes > 0, 'scenes in the memory of the host have a limit');
  for (const unset of ['adapter', 'shaderCache', 'apiKeys', 'grpcTls', 'traceFolder', 'findingsFolder', 'allowedHosts'])
    t.notOk(unset in config, unset);
  t.equal(config.adapter, undefined);
  t.ok(config.threads >= 1);
  t.same(config.warnings, []);
  t.same(readConfig({ INTERSTICE_HTTP_PORT: '' }), config, 'an empty variable counts as unset');
});

t.test('every setting is read', async (t) => {
  const config = readConfig({
    INTERSTICE_HOST: '::1',
    INTERSTICE_HTTP_PORT: '0',
    INTERSTICE_ENGINE: 'cpu',
    INTERSTICE_ADAPTER: 'llvmpipe',
    INTERSTICE_THREADS: '3',
    INTERSTICE_MAX_VERTICES: '10',
    INTERSTICE_MAX_ELEMENTS: '20',
    INTERSTICE_MAX_MESSAGE_BYTES: '4096',
    INTERSTICE_MAX_QUEUE: '0',
    INTERSTICE_MAX_BODY_BYTES: '5000',
    INTERSTICE_MAX_CONNECTIONS: '6000',
    INTERSTICE_MAX_CONNECTIONS_PER_ADDRESS: '600',
    INTERSTICE_MAX_TIME_BUDGET_SECONDS: '1.5',
    INTERSTICE_DRAIN_SECONDS: '2',
    INTERSTICE_LOG_LEVEL: 'silent',
    INTERSTICE_ALLOW_UNVERIFIED: '1',
    INTERSTICE_STORE: 'rediss://me@store.example:6380/2',
    INTERSTICE_STORE_PASSWORD_FILE: 'password.txt',
    INTERSTICE_STORE_CA: 'store-ca.pem',
    INTERSTICE_STORE_PREFIX: 'blue',
    INTERSTICE_STORE_TIMEOUT_SECONDS: '0.5',
    INTERSTICE_STORE_FAILURE: 'continue',
    INTERSTICE_STORE_DURABILITY: 'always',
    INTERSTICE_STORE_REPLICAS: '1',
    INTERSTICE_DRAIN_NOTICE_SECONDS: '3',
    INTERSTICE_GRPC_PORT: '1',
    INTERSTICE_GRPC_KEEPALIVE_SECONDS: '0',
    INTERSTICE_GRPC_TLS_CERT: 'cert.pem',
    INTERSTICE_GRPC_TLS_KEY: 'key.pem',
    INTERSTICE_GRPC_TLS_CLIENT_CA: 'ca.pem',
    INTERSTICE_ADMIN_HOST: '127.0.0.2',
    INTERSTICE_ADMIN_PORT: 'off',
    INTERSTICE_CAPACITY_PORT: '9191',
    INTERSTICE_API_KEYS: 'keys.txt',
    INTERSTICE_ALLOWED_HOSTS: 'One.example, [FE80::1],, two',
    INTERSTICE_CORS_ORIGINS: 'https://App.example , http://localhost:3000',
    INTERSTICE_MAX_SESSIONS: '7',
    INTERSTICE_MAX_SESSIONS_PER_TENANT: '3',
    INTERSTICE_IDLE_TIMEOUT_SECONDS: '0',
    INTERSTICE_MAX_DEVICE_BYTES: '1000',
    INTERSTICE_MAX_SESSION_BYTES: '2000',
    INTERSTICE_MAX_PAIR_BYTES: '4194304',
    INTERSTICE_CONVOY_SCENES: '16',
    INTERSTICE_CONVOY_DELAY_MS: '5',
    INTERSTICE_MAX_WORK_BYTES: '5000',
    INTERSTICE_MAX_QUEUE_BYTES: '3000',
    INTERSTICE_TRACE: 'traces',
    INTERSTICE_FINDINGS: 'findings',
    INTERSTICE_SHADER_CACHE: 'kernels',
  });
  t.match(config, {
    host: '::1',
    httpPort: 0,
    engine: 'cpu',
    adapter: 'llvmpipe',
    threads: 3,
    threadsAreSet: true,
    allowUnverified: true,
    drainSeconds: 2,
    drainNoticeSeconds: 3,
    store: {
      url: 'rediss://me@store.example:6380/2',
      passwordFile: 'password.txt',
      caFile: 'store-ca.pem',
      prefix: 'blue',
      timeoutMs: 500,
      onFailure: 'continue',
      durability: 'always',
      replicas: 1,
    },
    logLevel: 'silent',
    limits: {
      maxVertices: 10,
      maxElements: 20,
      maxMessageBytes: 4096,
      maxQueue: 0,
      maxTimeBudgetSeconds: 1.5,
      defaultTimeBudgetSeconds: 1.5,
    },
    grpcPort: 1,
    grpcKeepaliveSeconds: 0,
    grpcTls: { cert: 'cert.pem', key: 'key.pem', clientCa: 'ca.pem' },
    adminHost: '127.0.0.2',
    adminPort: 'off',
    capacityPort: 9191,
    apiKeys: 'keys.txt',
    allowedHosts: ['one.example', '[fe80::1]', 'two'],
    corsOrigins: ['https://app.example', 'http://localhost:3000'],
    maxSessionsPerTenant: 3,
    maxSessionBytes: 2000,
    maxPairBytes: 4_194_304,
    convoy: { scenes: 16, delay: 5 },
    maxWorkBytes: 5000,
    maxQueueBytes: 3000,
    maxBodyBytes: 5000,
    maxConnections: 6000,
    maxConnectionsPerAddress: 600,
    idleTimeoutSeconds: 0,
    traceFolder: 'traces',
    findingsFolder: 'findings',
    shaderCache: 'kernels',
  });
  t.match(config.limits, { maxSessions: 7, maxDeviceBytes: 1000 });
  t.notOk('store' in readConfig({}), 'sessions live in memory');
  t.equal(readConfig({ INTERSTICE_GRPC_PORT: 'off' }).grpcPort, 'off');
  t.equal(readConfig({ INTERSTICE_MAX_SESSIONS: '5' }).maxSessionsPerTenant, 5, '0 = the limit of the server');
  t.match(readConfig({ INTERSTICE_TRACE: '1' }).traceFolder, /interstice-traces$/);
  t.equal(readConfig({ INTERSTICE_TRACE: '0' }).traceFolder, undefined);
});

t.test('the default time budget is at most the longest, and 0 is none', (t) => {
  const budgetsOf = (environment: Record<string, string>) => readConfig(environment).limits;
  const [longest, usual] = ['INTERSTICE_MAX_TIME_BUDGET_SECONDS', 'INTERSTICE_DEFAULT_TIME_BUDGET_SECONDS'];
  t.equal(budgetsOf({}).defaultTimeBudgetSeconds, 600);
  t.equal(budgetsOf({ [usual]: '20' }).defaultTimeBudgetSeconds, 20);
  t.equal(budgetsOf({ [usual]: '20', [longest]: '5' }).defaultTimeBudgetSeconds, 5);
  t.notOk('defaultTimeBudgetSeconds' in budgetsOf({ [usual]: '0' }));
  t.end();
});

t.test('all problems are listed at once', async (t) => {
  const text = problemsOf({
    INTERSTICE_HTTP_PORT: '70000',
    INTERSTICE_THREADS: '1.5',
    INTERSTICE_ENGINE: 'cuda',
    INTERSTICE_MAX_QUEUE: '-1',
    INTERSTICE_STORE: 'redis://me:word@x',
    INTERSTICE_GRPC_TLS_CERT: 'cert.pem',
    INTERSTICE_ALLOW_UNVERIFIED: 'yes',
    INTERSTICE_ALLOWED_HOSTS: 'x.example:8080,y',
    INTERSTICE_CORS_ORIGINS: 'https://a.example/,b.example,http://c.example:80,null,http://d.example',
  });
  t.match(text, /12 problem/);
  t.match(text, /INTERSTICE_ALLOWED_HOSTS contains "x\.example:8080"/);
  for (const origin of ['https://a.example/', 'b.example', 'http://c.example:80', 'null'])
    t.match(text, `INTERSTICE_CORS_ORIGINS contains "${origin}"`);
  t.match(text, /INTERSTICE_HTTP_PORT is "70000", expected a whole number from 0 to 65535 \(port\)/);
  t.match(text, /INTERSTICE_THREADS is "1.5", expected a whole number/);
  t.match(text, /INTERSTICE_ENGINE is "cuda", expected auto or cpu or webgpu/);
  t.match(text, /INTERSTICE_MAX_QUEUE is "-1"/);
  t.match(text, /INTERSTICE_STORE contains a password/);
  t.notMatch(text, /me:word/, 'which is not repeated');
  t.match(problemsOf({ INTERSTICE_STORE: 'http://:word@x' }), /INTERSTICE_STORE must be memory, redis:/);
  t.notMatch(problemsOf({ INTERSTICE_STORE: 'http://:word@x' }), /:word/);
  t.match(problemsOf({ INTERSTICE_STORE_PREFIX: 'a:b' }), /INTERSTICE_STORE_PREFIX is "a:b"/);
  t.match(text, /INTERSTICE_GRPC_TLS_CERT and INTERSTICE_GRPC_TLS_KEY/);
  t.match(text, /INTERSTICE_ALLOW_UNVERIFIED is "yes"/);
  for (const bad of ['0x10', '1e3', 'NaN', '+1', '80 90'])
    t.match(problemsOf({ INTERSTICE_HTTP_PORT: bad }), /expected/, bad);
});

t.test('a host that other machines can reach requires keys or INTERSTICE_INSECURE', async (t) => {
  for (const host of ['0.0.0.0', '::', '192.168.1.2', 'example.org', '127.0.0.1.example.org']) {
    t.match(problemsOf({ INTERSTICE_HOST: host }), /INTERSTICE_INSECURE=1/, host);
    t.match(readConfig({ INTERSTICE_HOST: host, INTERSTICE_INSECURE: '1' }).warnings, [/INTERSTICE_INSECURE=1/]);
    t.same(readConfig({ INTERSTICE_HOST: host, INTERSTICE_API_KEYS: 'keys.txt' }).warnings, [], 'keys suffice');
  }
  for (const host of ['localhost', '::1', '127.0.0.1', '127.8.9.10']) t.equal(isLoopback(host), true, host);
});

t.test('settings of the store that have no effect cause warnings', async (t) => {
  const names = ['INTERSTICE_STORE_DURABILITY', 'INTERSTICE_STORE_REPLICAS', 'INTERSTICE_STORE_CA'];
  const demands = {
    INTERSTICE_STORE_DURABILITY: 'always',
    INTERSTICE_STORE_REPLICAS: '1',
    INTERSTICE_STORE_CA: 'ca.crt',
  };
  const alone = readConfig(demands).warnings;
  t.equal(alone.length, 3);
  for (const name of names)
    t.match(alone.join('\n'), new RegExp(`${name} is set, but sessions are kept in memory only`));
  const plain = readConfig({ ...demands, INTERSTICE_STORE: 'redis://store:6379/0' }).warnings;
  t.match(plain, [/INTERSTICE_STORE_CA is set, but INTERSTICE_STORE begins with redis:\/\//]);
  t.equal(plain.length, 1);
  t.same(readConfig({ ...demands, INTERSTICE_STORE: 'rediss://store:6379/0' }).warnings, []);
});

t.test('unknown settings and open ports cause warnings', async (t) => {
  const { warnings } = readConfig({
    INTERSTICE_HTTPPORT: '1',
    INTERSTICE_ADMIN_HOST: '0.0.0.0',
    INTERSTICE_DATA: '/x',
    PATH: '/',
  });
  t.equal(warnings.length, 2);
  t.match(warnings.join('\n'), /INTERSTICE_HTTPPORT is set, but there is no such setting/);
  t.match(warnings.join('\n'), /INTERSTICE_ADMIN_HOST is 0\.0\.0\.0: everyone who can connect sees metrics/);
});

t.test('every setting is listed with its source', async (t) => {
  const folder = t.testdir({ settings: 'INTERSTICE_THREADS=2\nINTERSTICE_HTTP_PORT=1\n' });
  const { settings } = readConfig({ INTERSTICE_CONFIG: `${folder}/settings`, INTERSTICE_HTTP_PORT: '0' });
  const of = (name: string) => settings.find((setting) => setting.name === name);
  t.equal(settings.length, Object.keys(SETTINGS).length);
  t.same(of('INTERSTICE_THREADS'), { name: 'INTERSTICE_THREADS', value: '2', source: 'file' });
  t.same(of('INTERSTICE_HTTP_PORT'), { name: 'INTERSTICE_HTTP_PORT', value: '0', source: 'environment' });
  t.same(of('INTERSTICE_MAX_QUEUE'), { name: 'INTERSTICE_MAX_QUEUE', value: '64', source: 'default' });
  t.same(of('INTERSTICE_ADAPTER'), { name: 'INTERSTICE_ADAPTER', value: null, source: 'default' });
});

t.test('problems of the file and of its values are listed together', async (t) => {
  const folder = t.testdir({ settings: 'INTERSTICE_THREADS=many\nINTERSTICE_THREDS=2\n' });
  const text = problemsOf({ INTERSTICE_CONFIG: `${folder}/settings`, INTERSTICE_ENGINE: 'steam' });
  t.match(text, /3 problem/);
  t.match(text, /settings, line 2: there is no setting INTERSTICE_THREDS/);
  t.match(problemsOf({ INTERSTICE_CONFIG: `${folder}/none` }), /cannot be read \(ENOENT\)/);
  const nested = t.testdir({ settings: 'INTERSTICE_CONFIG=other\n' });
  t.match(problemsOf({ INTERSTICE_CONFIG: `${nested}/settings` }), /line 1: a settings file cannot name another one\./);
});

t.test('the table names every setting with its default', async (t) => {
  const text = tabulateConfig();
  for (const setting of Object.values(SETTINGS)) {
    t.ok(text.includes(setting.name), setting.name);
    t.ok(text.includes(setting.description));
  }
  t.match(text, /\| `INTERSTICE_HTTP_PORT` \| port 0 to 65535 \| 8080 \|/);
});

t.test('no limit exceeds what a mesh can hold', async (t) => {
  t.equal(SETTINGS.maxVertices.range[1], STRUCTURAL_LIMITS.maxVertices);
  t.equal(SETTINGS.maxElements.range[1], STRUCTURAL_LIMITS.maxElements);
});
