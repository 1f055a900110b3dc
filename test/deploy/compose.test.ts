import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { readConfig } from '../../src/config/config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { projectRoot } from '../../src/paths.js';

/* Reads docker-compose.yml and holds it against the service, the proxy and the monitoring. It starts no container: deploy/test-compose.sh does. */

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly read_only?: boolean;
  readonly command?: readonly string[];
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
}
const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const load = (path: string) =>
  parse(read(path), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes?: Readonly<Record<string, null>>;
  };
const { services, volumes } = load('docker-compose.yml');
const cards = load('deploy/docker-compose.nvidia.yml').services;
const processes = Object.keys(services).filter((name) => /^interstice-\d$/.test(name));

/** "${NAME:-default}" as Compose reads it where nothing is set. */
const settled = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')]));

t.test('the settings of both processes are settings of the service, and it accepts them', async (t) => {
  t.equal(processes.length, 2);
  const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
  for (const name of processes) {
    for (const more of [{}, cards[name].environment!]) {
      const environment = settled({ ...services[name].environment!, ...more });
      for (const setting of Object.keys(environment)) t.ok(known.has(setting), setting);
      const config = readConfig({ INTERSTICE_HOST: '0.0.0.0', ...environment });
      t.ok(config.store, 'sessions are in the store');
    }
    const environment = settled(services[name].environment!);
    const config = readConfig({ INTERSTICE_HOST: '0.0.0.0', ...environment });
    const grace = Number(/^(\d+)s$/.exec(services[name].stop_grace_period!)![1]);
    t.ok(
      grace >= config.drainNoticeSeconds + Math.max(config.drainSeconds, config.drainJobSeconds) + 20,
      'a drain has the time that it takes',
    );
    t.equal(services[name].read_only, true);
    t.match(services[name].logging?.options, { 'max-size': /^\d+m$/, 'max-file': /^\d+$/ }, 'its log is bounded');
    t.notOk(services[name].ports, 'only the proxy is published');
  }
});

const hasProxy = spawnSync('haproxy', ['-v']).status === 0;

t.test('the proxy is told every process by name, and both its ports are published', async (t) => {
  const { environment, ports } = services.haproxy;
  const { httpPort, grpcPort } = readConfig({});
  const { capacityPort } = readConfig({ INTERSTICE_HOST: '0.0.0.0', ...settled(services[processes[0]!].environment!) });
  for (const name of processes) {
    const number = name.at(-1)!;
    t.match(environment, {
      [`INTERSTICE_${number}_HTTP`]: `${name}:${httpPort}`,
      [`INTERSTICE_${number}_GRPC`]: `${name}:${grpcPort}`,
      [`INTERSTICE_${number}_HEALTH`]: `${httpPort}`,
      [`INTERSTICE_${number}_CAPACITY`]: `${capacityPort}`,
    });
  }
  t.same(ports, [`127.0.0.1:${httpPort}:${httpPort}`, `127.0.0.1:${grpcPort}:${grpcPort}`]);
  const asked = [...read('deploy/haproxy.cfg').matchAll(/\$\{(\w+)-/g)].map(([, name]) => name);
  t.same([...new Set(asked)].sort(), Object.keys(environment!).sort(), 'each name of the file is set, and no other');
});

t.test(
  'HAProxy accepts the file with these addresses',
  { skip: !hasProxy && 'HAProxy is not installed' },
  async (t) => {
    // No name of a container can be looked up here.
    const here = Object.entries(services.haproxy.environment!).map(([name, value]) => [
      name,
      value.replace(/interstice-\d/, '127.0.0.1'),
    ]);
    const env = { ...process.env, ...Object.fromEntries(here) };
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', join(projectRoot, 'deploy', 'haproxy.cfg')], {
      env,
      encoding: 'utf8',
    });
    t.equal(status, 0, stderr);
  },
);

t.test('every mounted file and volume exists, and every dependency is a service', async (t) => {
  for (const [name, { volumes: mounts = [], depends_on: waits = [] }] of Object.entries(services)) {
    for (const mount of mounts) {
      const [source] = mount.split(':');
      t.ok(source.startsWith('./') ? existsSync(join(projectRoot, source)) : source in volumes!, `${name}: ${mount}`);
    }
    for (const other of Array.isArray(waits) ? waits : Object.keys(waits))
      t.ok(other in services, `${name} → ${other}`);
  }
});

t.test(
  'Prometheus asks every process by a name that it answers to, and the store keeps what they ask for',
  async (t) => {
    const scraped = parse(read('deploy/monitoring/prometheus.yml')) as {
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    };
    const [job] = scraped.scrape_configs;
    t.equal(job.job_name, 'interstice', 'as the alerts have it');
    const { adminPort } = readConfig({});
    // A target that is looked up disappears with its process, and no alert sees that.
    t.same(
      job.static_configs.flatMap(({ targets }) => targets),
      processes.map((name) => `${name}:${adminPort}`),
    );
    for (const name of processes) {
      const { allowedHosts } = readConfig({ INTERSTICE_HOST: '0.0.0.0', ...settled(services[name].environment!) });
      t.ok(allowedHosts!.includes(name), `${name} answers to this name`);
    }
    t.match(read('deploy/monitoring/grafana/datasource.yml'), 'http://prometheus:9090');
    const command = services.redis.command!.join(' ');
    t.match(command, '--appendonly yes --appendfsync everysec');
    t.match(command, '--maxmemory-policy noeviction');
    for (const name of processes) t.equal(services[name].environment!.INTERSTICE_STORE_DURABILITY, 'everysec');
  },
);

t.test('a store that refuses commands, as while it loads its data, is not healthy', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start([], { password: 'secret' });
  t.teardown(() => redis.stop());
  const [kind, program, ...words] = services.redis.healthcheck!.test;
  t.equal(kind, 'CMD');
  const check = (...more: string[]) => spawnSync(program!, ['-p', String(redis.port), ...more, ...words]).status;
  t.not(check(), 0, 'a refusal');
  t.equal(check('-a', 'secret', '--no-auth-warning'), 0, 'an answer');
});

interface ComposeFile {
  readCompose(settings: Readonly<Record<string, string>>): { services: Readonly<Record<string, Service>> };
  engineArguments(service: object): string[];
  waitsOf(service: object): [string, string][];
}
const composeFile = (await import(pathToFileURL(join(projectRoot, 'deploy', 'compose-file.mjs')).href)) as ComposeFile;

t.test('deploy/test-compose.mjs starts every service of the file', async (t) => {
  const { readCompose, engineArguments, waitsOf } = composeFile;
  const { services: settled } = readCompose({ INTERSTICE_ENGINE: 'cpu' });
  t.same(Object.keys(settled), Object.keys(services));
  for (const name of processes) {
    const words = engineArguments(settled[name]!).join(' ');
    for (const part of [
      '--log-opt max-size=50m',
      '--read-only',
      '--cap-drop ALL',
      '--restart unless-stopped',
      '--network-alias interstice',
    ])
      t.match(words, part);
    t.match(words, '--env INTERSTICE_ENGINE=cpu', 'what the environment sets');
    t.match(engineArguments(readCompose({}).services[name]!).join(' '), '--env INTERSTICE_ENGINE=auto');
    t.same(waitsOf(settled[name]!), [['redis', 'service_healthy']]);
  }
  t.match(engineArguments(settled.haproxy!).join(' '), '--publish 127.0.0.1:8080:8080');
  const redis = engineArguments(settled.redis!);
  t.equal(redis[redis.indexOf('--health-cmd') + 1], '["redis-cli","-e","ping"]');
  t.same(redis.slice(redis.indexOf('redis:7-bookworm')), ['redis:7-bookworm', ...services.redis.command!]);
  for (const [unknown, name] of [
    [{ privileged: true }, /privileged/],
    [{ stop_grace_period: '1m30s' }, /stop_grace_period/],
    [{ environment: { A: null } }, /environment\.A/],
    [{ networks: { default: { aliases: ['a'] }, other: {} } }, /networks\.other/],
    [{ healthcheck: { test: ['CMD', 'a'], start_period: '1s' } }, /start_period/],
    [{ logging: { driver: 'json-file', options: { tag: 'a' } } }, /logging\.options\.tag/],
    [{ healthcheck: { test: ['CMD-SHELL', 'a | b'] } }, /CMD-SHELL/],
  ] as const)
    t.throws(() => engineArguments({ image: 'redis', ...unknown }), name);
});
