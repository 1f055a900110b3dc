/**
 * Runs docker-compose.yml with podman, and kills one of its processes meanwhile. Every answer through HAProxy is
 * compared with the bytes of a session in this process. Prints one line per check, then
 * `N passed, N failed, N skipped`. deploy/test-compose.sh calls it, with the images and in a separate network, where
 * the ports that the file publishes are free.
 *
 *     node deploy/test-compose.mjs
 */
import { spawnSync } from 'node:child_process';
import { Caller } from '../dist/bench/cluster/caller.js';
import { WAYS } from '../dist/bench/cluster/proof.js';
import { Reference } from '../dist/bench/cluster/reference.js';
import { engineArguments, readCompose, waitsOf } from './compose-file.mjs';
import { root, startProgram, until } from './program.mjs';
import { openTally } from './tally.mjs';

/** Time limit for programs that hang: each takes seconds on an idle machine. */
const LIMIT_MS = 120_000;
const HTTP = 'http://127.0.0.1:8080';
const GRPC = '127.0.0.1:50051';
const PROMETHEUS = 'http://127.0.0.1:9091';
const NETWORK = 'interstice-compose';
/** Answers of every session before and after each event. */
const ANSWERS = 3n;
const SESSIONS_A_WAY = 2;

const tally = openTally('compose');
const { check } = tally;

async function podman(...words) {
  const program = startProgram('podman', words);
  if ((await program.ended) !== 0) throw new Error(`podman ${words.join(' ')}: ${program.log()}`);
  return program.said().trim();
}
const untilSeen = (what, look) => until(what, LIMIT_MS, look);
const isHealthy = (name) => untilSeen(`${name} is healthy`, () => podman('healthcheck', 'run', name).then(() => true));
const askJson = async (url) => (await fetch(url)).json();

// Debian has no package of Grafana; test/deploy/monitoring.test.ts checks its settings in the file.
const {
  services: { grafana: _, ...services },
  volumes,
} = readCompose({ INTERSTICE_ENGINE: 'cpu' });
const processes = Object.keys(services).filter((name) => /^interstice-\d$/.test(name));

const started = [];
async function start(name) {
  if (started.includes(name)) return;
  for (const [other, condition] of waitsOf(services[name])) {
    await start(other);
    if (condition === 'service_healthy') await isHealthy(other);
  }
  const place = ['--name', name, '--network', NETWORK, '--network-alias', name];
  await podman('run', '--detach', '--pull', 'never', ...place, ...engineArguments(services[name]));
  started.push(name);
}

const reference = await Reference.open();
const callers = [];
let isOver = false;
const faults = [];
async function keepStepping(caller) {
  try {
    while (!isOver) await caller.step();
  } catch (thrown) {
    faults.push(thrown.message);
  }
}
/** Waits until every session has received some answers to requests from now on. */
async function answersOfAll() {
  const reached = callers.map(({ frames }) => frames);
  await untilSeen('every session is answered', () => {
    if (faults.length > 0) return true;
    return callers.every(({ frames }, k) => frames > reached[k] + ANSWERS);
  });
  return faults.length === 0;
}
/** Host name of the container that owns a session according to the store: the beginning of the container's id. */
async function ownerOf(id) {
  const owner = await podman('exec', 'redis', 'redis-cli', 'HGET', `interstice:session:default:${id}`, 'owner');
  const [host] = owner.split(':');
  // An empty host name would match every container.
  if (!/^[0-9a-f]{12}$/.test(host)) throw new Error(`The store says that "${owner}" has the session ${id}.`);
  return host;
}
let opened = 0;
async function openCaller(way) {
  const caller = new Caller(way, HTTP, GRPC, reference, opened++);
  await caller.open();
  return caller;
}

async function run() {
  await podman('network', 'create', NETWORK);
  for (const name of Object.keys(services)) await start(name);
  for (const name of processes) await isHealthy(name);
  await untilSeen('HAProxy finds a process', async () => (await fetch(`${HTTP}/readyz`)).ok);
  check(true, `${started.join(', ')} run, as the file says`);

  const use = spawnSync(process.execPath, ['deploy/use-service.mjs', 'cpu'], { cwd: root, encoding: 'utf8' });
  check(use.status === 0, 'a resolve through HAProxy, over HTTP and gRPC', use.stderr);

  for (const way of WAYS) for (let k = 0; k < SESSIONS_A_WAY; k++) callers.push(await openCaller(way));
  const loops = callers.map(keepStepping);
  check(await answersOfAll(), `${callers.length} sessions step, by ${WAYS.join(', ')}`, faults.join('\n'));

  const ids = Object.fromEntries(
    await Promise.all(
      processes.map(async (name) => [name, await podman('inspect', '--format', '{{.Id}} {{.State.Pid}}', name)]),
    ),
  );
  const owners = await Promise.all(callers.map(({ id }) => ownerOf(id)));
  const victim = processes.find((name) => ids[name].startsWith(owners[0]));
  check(victim !== undefined, 'the store names the container that has a session', owners.join());
  const [id, pid] = ids[victim].split(' ');
  process.kill(Number(pid), 'SIGKILL');
  const haveAnswers = await answersOfAll();
  check(haveAnswers, `${victim} is killed, and all sessions go on with the expected bytes`, faults.join('\n'));
  await untilSeen(`${victim} is started again`, async () => {
    const state = await podman('inspect', '--format', '{{.State.Running}} {{.State.Pid}}', victim);
    return state.startsWith('true') && state !== `true ${pid}`;
  });
  await isHealthy(victim);
  check(true, `${victim} is started again by its policy`);
  await untilSeen(`HAProxy gives ${victim} a session`, async () => {
    const caller = await openCaller('http');
    caller.close();
    const owner = await ownerOf(caller.id);
    await fetch(`${HTTP}/v1/sessions/${caller.id}`, { method: 'DELETE' });
    return id.startsWith(owner);
  });
  check(true, `HAProxy gives new sessions to ${victim} again`);

  const up = await untilSeen('Prometheus has seen both processes', async () => {
    const { data } = await askJson(`${PROMETHEUS}/api/v1/targets`);
    const found = data.activeTargets.filter(({ health }) => health === 'up');
    return found.length === processes.length && found;
  });
  check(true, `Prometheus scrapes ${up.map(({ scrapeUrl }) => scrapeUrl).join(' and ')}`);
  const { data } = await askJson(`${PROMETHEUS}/api/v1/rules`);
  check(data.groups.length > 0, 'Prometheus has the alert rules');

  isOver = true;
  await Promise.all(loops);
  check(faults.length === 0, 'no answer had other bytes, none was refused for good', faults.join('\n'));
  for (const name of [...started].reverse()) await podman('stop', name);
  for (const name of processes) {
    const code = await podman('inspect', '--format', '{{.State.ExitCode}}', name);
    check(code === '0', `${name} drains and ends with code 0`, code);
  }
}

try {
  await run();
} catch (thrown) {
  const logs = started.map((name) => {
    const { stdout, stderr } = spawnSync('podman', ['logs', '--tail', '10', name], { encoding: 'utf8' });
    return `${name}:\n${stdout}${stderr}`;
  });
  check(false, thrown.message, logs.join('\n'));
} finally {
  isOver = true;
  for (const caller of callers) caller.close();
  for (const name of [...started].reverse()) await podman('rm', '--force', '--time', '0', name).catch(() => undefined);
  await podman('volume', 'rm', '--force', ...Object.keys(volumes)).catch(() => undefined);
  await podman('network', 'rm', '--force', NETWORK).catch(() => undefined);
  await reference.close();
}
tally.end();
// After a failure sessions may still wait for their answers.
process.exit();
