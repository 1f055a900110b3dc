/**
 * Tests the clients against the real server. test-clients.sh prepares the folder and calls this program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeCertificates, openTlsProxy } from './tls-proxies.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const clients = join(root, 'clients');
const build = join(root, '.build', 'clients');
const program = join(root, 'dist', 'src', 'cli', 'main.js');
const isRequired = process.env.INTERSTICE_REQUIRE_CLIENTS === '1';

/** Time limits for programs that hang: a start and a loop of 60 frames take seconds on an idle machine. */
const START_LIMIT_MS = 300_000;
const LOOP_LIMIT_MS = 600_000;
const BUILD_LIMIT_MS = 1_200_000;
const FRAMES = 60;
/** By this frame the sheets lie on the ball and on each other. */
const BULLET_FRAMES = 25;
/** The server is killed when a loop has reported this frame. */
const KILL_AT = 20;

const total = { passed: 0, failed: 0, skipped: 0 };
const print = (text) => process.stdout.write(`${text}\n`);
const check = (isRight, what, detail = '') => {
  total[isRight ? 'passed' : 'failed'] += 1;
  print(`${isRight ? ' ok ' : 'FAIL'}  ${what}${isRight || detail === '' ? '' : `\n${detail.slice(-4000)}`}`);
};
const skip = (what, reason) => {
  if (isRequired) return check(false, what, reason);
  total.skipped += 1;
  print(`skip  ${what}: ${reason}`);
};

const run = (command, args, options = {}) =>
  spawnSync(command, args, { encoding: 'utf8', timeout: BUILD_LIMIT_MS, ...options });
const works = (command, ...args) => run(command, args).status === 0;

const findPython = () =>
  ['python3', '/usr/bin/python3'].find((python) => works(python, '-c', 'import numpy, grpc, google.protobuf'));

/** Builds the wheel without network, as for publishing, and installs it in an empty folder. */
const installWheel = (python, folder) => {
  const source = join(build, 'wheel', 'clients', 'python');
  for (const old of [folder, join(build, 'wheel')]) rmSync(old, { recursive: true, force: true });
  // A copy, because setuptools builds beside the sources.
  for (const part of ['interstice', 'pyproject.toml', 'setup.py', 'generate.py', 'README.md']) {
    cpSync(join(clients, 'python', part), join(source, part), {
      recursive: true,
      filter: (path) => !/[/\\](v1|__pycache__)$/.test(path),
    });
  }
  cpSync(join(root, 'proto'), join(build, 'wheel', 'proto'), { recursive: true });
  const pip = (...args) =>
    run(python, ['-m', 'pip', ...args, '--no-deps', '--no-index'], { cwd: join(build, 'wheel') });
  const made = pip('wheel', '--no-build-isolation', '-w', 'out', './clients/python');
  const installed = pip('install', '--find-links', 'out', '--target', folder, 'interstice');
  const output = [made, installed].map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
  const names = ['py.typed', join('v1', 'collision_pb2.pyi'), join('v1', 'collision_pb2_grpc.pyi')];
  const isWhole = names.every((name) => existsSync(join(folder, 'interstice', name)));
  check(made.status === 0 && installed.status === 0 && isWhole, 'python: the wheel is built and installed', output);
  if (!works(python, '-m', 'mypy', '--version')) skip('python: types', 'no python3-mypy');
  else {
    const typed = run(python, ['-m', 'mypy', '--config-file', join(source, 'pyproject.toml'), 'interstice'], {
      cwd: folder,
    });
    check(typed.status === 0, 'python: mypy --strict finds nothing', `${typed.stdout}${typed.stderr}`);
  }
  return isWhole;
};

/** The example of a page as a program: its unchanged blocks of code one after another, except for the ports. */
const exampleOf = (page, { http, grpc }) =>
  [...readFileSync(page, 'utf8').matchAll(/^```(?:python|ts)\n([\s\S]*?)^```/gm)]
    .map(([, code]) => code.replaceAll('127.0.0.1:8080', http).replaceAll('127.0.0.1:50051', grpc))
    .join('\n');

/**
 * Builds a client; returns its tests and its loops, as commands that take the address as an argument. Loops over TLS
 * read the authority from the environment, from a variable that depends on the library.
 */
const preparePython = () => {
  const python = findPython();
  if (!python) return skip('the Python client', 'no python3 with numpy, grpcio and protobuf');
  if (!works('protoc', '--version') || !works('which', 'grpc_python_plugin')) {
    return skip('the Python client', 'no protoc with grpc_python_plugin');
  }
  const folder = join(build, 'python');
  if (!installWheel(python, folder)) return undefined;
  const tests = ['support', 'test_client', 'test_sessions', 'test_jobs', 'test_untangle', 'test_grpc', 'test_tls'];
  for (const part of ['falling_cloth.py', ...tests.map((name) => `${name}.py`)]) {
    cpSync(join(clients, 'python', part), join(folder, part), { recursive: true });
  }
  const loop = [python, join(folder, 'falling_cloth.py')];
  return {
    example: (addresses) => {
      writeFileSync(join(folder, 'readme.py'), exampleOf(join(clients, 'python', 'README.md'), addresses));
      return [python, join(folder, 'readme.py')];
    },
    prints: /^[A-Z_]+ \[[\d.e\s-]+\]\n(?:\d+ [\d.e-]+\n)+$/,
    tests: ({ http, grpc }) => [python, join(folder, 'test_client.py'), `http://${http}`, `grpc://${grpc}`],
    loops: [
      ['python, HTTP', ({ http }) => [...loop, `http://${http}`]],
      ['python, gRPC', ({ grpc }) => [...loop, `grpc://${grpc}`]],
      ['python, gRPC stream', ({ grpc }) => [...loop, `grpc://${grpc}`, '--stream']],
    ],
    tlsTests: [
      ['python, HTTPS', (tlsArguments) => [python, join(folder, 'test_tls.py'), ...tlsArguments('https')]],
      ['python, gRPC over TLS', (tlsArguments) => [python, join(folder, 'test_tls.py'), ...tlsArguments('grpcs')]],
    ],
    tlsLoops: [
      ['python, gRPC over TLS', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', ({ grpc }) => [...loop, `grpcs://${grpc}`]],
    ],
  };
};

const prepareCpp = () => {
  const tools = ['cmake', 'protoc', 'pkg-config'].filter((tool) => !works(tool, '--version'));
  if (tools.length > 0) return skip('the C++ client', `no ${tools.join(', ')}`);
  if (!works('pkg-config', '--exists', 'grpc++', 'protobuf')) return skip('the C++ client', 'no libgrpc++-dev');
  const folder = join(build, 'cpp');
  const steps = [
    // Its programs wait for the service; optimising them takes longer than running them.
    ['-S', join(clients, 'cpp'), '-B', folder, '-DCMAKE_BUILD_TYPE=Debug'],
    ['--build', folder, '--parallel', '2'],
  ].map((args) => run('cmake', args));
  const isBuilt = steps.every((step) => step.status === 0);
  check(isBuilt, 'c++: the client is built', steps.map((step) => `${step.stdout}${step.stderr}`).join(''));
  if (!isBuilt) return undefined;
  // A separate project finds the installed package.
  const [installed, example] = [join(build, 'cpp-installed'), join(build, 'cpp-example')];
  for (const old of [installed, example]) rmSync(old, { recursive: true, force: true });
  const uses = [
    ['--install', folder, '--prefix', installed],
    ['-S', join(clients, 'cpp', 'example'), '-B', example, `-DCMAKE_PREFIX_PATH=${installed}`],
    ['--build', example],
  ].map((args) => run('cmake', args));
  const isUsed = uses.every((step) => step.status === 0);
  check(
    isUsed,
    'c++: find_package finds what was installed',
    uses.map((step) => `${step.stdout}${step.stderr}`).join(''),
  );
  const loop = join(folder, 'falling_cloth');
  return {
    tests: ({ grpc }) => [join(folder, 'client_test'), grpc],
    ...(existsSync(join(folder, 'two_worlds')) ? { bullet: join(folder, 'two_worlds') } : {}),
    ...(isUsed ? { example: ({ grpc }) => [join(example, 'two_triangles'), `grpc://${grpc}`] } : {}),
    prints: /^(?:\d+ steps so far\n)+[A-Z_]+, height 0\.0\d+\n$/,
    loops: [
      ['c++', ({ grpc }) => [loop, grpc]],
      ['c++, stream', ({ grpc }) => [loop, grpc, '--stream']],
    ],
    tlsTests: [['c++, TLS', (tlsArguments) => [join(folder, 'tls_test'), ...tlsArguments('grpcs')]]],
    tlsLoops: [['c++, TLS', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', ({ grpc }) => [loop, `grpcs://${grpc}`, '--stream']]],
  };
};

/** The other tests of this client are part of `npm test`. */
const inTypescript = (program, ...args) => [process.execPath, join(clients, 'typescript', program), ...args];
const typescript = {
  example: (addresses) => {
    // The file lies inside the package, whose name the example imports.
    const path = join(build, 'readme.mjs');
    writeFileSync(path, exampleOf(join(clients, 'typescript', 'README.md'), addresses));
    return [process.execPath, path];
  },
  prints: /^[A-Z_]+ 0\.0\d+\n(?:JOB_[A-Z]+ \S+\n)+[A-Z_]+\n$/,
  loops: [['typescript', ({ http }) => inTypescript('falling-cloth.mjs', `http://${http}`)]],
  tlsTests: [['typescript, HTTPS', (tlsArguments) => inTypescript('tls-test.mjs', ...tlsArguments('https'))]],
  tlsLoops: [
    ['typescript, HTTPS', 'NODE_EXTRA_CA_CERTS', ({ https }) => inTypescript('falling-cloth.mjs', `https://${https}`)],
  ],
};

/**
 * Below the ports that systems assign automatically: while a server is down, no other program gets its port, not even
 * its clients.
 */
const [FIRST_PORT, PORTS] = [15_000, 15_000];

/** Ports are assigned in turn, because an assigned port stays free until its server listens. */
let nextPort = Math.floor(Math.random() * PORTS);

const freePort = async () => {
  for (;;) {
    const port = FIRST_PORT + nextPort;
    nextPort = (nextPort + 1) % PORTS;
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
};

const startServer = async ({ httpPort, grpcPort, http, settings }) => {
  const { INTERSTICE_REQUIRE_CLIENTS: _, ...environment } = process.env;
  const env = {
    ...environment,
    INTERSTICE_HTTP_PORT: String(httpPort),
    INTERSTICE_GRPC_PORT: String(grpcPort),
    INTERSTICE_ADMIN_PORT: 'off',
    INTERSTICE_ENGINE: 'cpu',
    INTERSTICE_LOG_LEVEL: 'warn',
    ...settings,
  };
  const server = spawn(process.execPath, [program, 'serve'], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  server.stderr.on('data', (chunk) => {
    log += chunk;
  });
  for (const since = Date.now(); Date.now() - since < START_LIMIT_MS && server.exitCode === null; await pause(100)) {
    const answer = await fetch(`http://${http}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return server;
  }
  server.kill('SIGKILL');
  throw new Error(`The server did not become ready: ${log}`);
};

const kill = async (server) => {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
};

const TALLY = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m;

/** Tests sheets in Bullet, whose world alone intersects and whose guarded world must not. */
const testBullet = (command, { grpc }) => {
  if (!command) {
    total.skipped += 1;
    return print('skip  c++: the example with Bullet: no libbullet-dev (deploy/install-bullet.sh)');
  }
  const ran = run(command, [`grpc://${grpc}`, '--frames', String(BULLET_FRAMES)], { timeout: LOOP_LIMIT_MS });
  const output = `${ran.stdout}${ran.stderr}${ran.error ?? ''}`;
  const counts = [...output.matchAll(/: (\d+) of (\d+) frames intersect/g)].map(([, ...numbers]) =>
    numbers.map(Number),
  );
  const [[alone] = [], [guarded, frames] = []] = counts;
  const isRight = ran.status === 0 && alone > 0 && guarded === 0 && frames === BULLET_FRAMES;
  check(
    isRight,
    `c++: Bullet's cloth intersects in ${alone} of ${frames} frames alone and in ${guarded} with Interstice`,
    output,
  );
};

/** Asynchronous, because this process also runs the proxies of some tests. */
const runTests = async (name, [command, ...args]) => {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: LOOP_LIMIT_MS });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [status] = await once(child, 'close');
  const counts = TALLY.exec(stdout)?.slice(1).map(Number);
  const isWhole = counts !== undefined && (status === 0) === (counts[1] === 0);
  check(isWhole, `${name}: its tests run to completion`, `${stdout}${stderr}`);
  if (!counts) return;
  ['passed', 'failed', 'skipped'].forEach((kind, i) => {
    total[kind] += counts[i];
  });
  print(`      ${name}: ${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped`);
  if (counts[1] > 0) print(`${stdout}${stderr}`);
};

/** Runs a falling cloth whose server is killed meanwhile. @returns the new server, which uses the same ports */
const runLoop = async (name, [command, ...args], server, addresses, environment = {}) => {
  const env = { ...process.env, ...environment };
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const limit = setTimeout(() => child.kill('SIGKILL'), LOOP_LIMIT_MS);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const lines = [];
  let current = server;
  let restarting;
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (!line.startsWith(`frame ${KILL_AT} `)) return;
    restarting = kill(server).then(() => startServer(addresses));
    restarting.catch(() => {});
  });
  const [code] = await ended;
  clearTimeout(limit);
  if (restarting) current = await restarting;
  const output = `${lines.join('\n')}\n${errors}`;
  check(code === 0, `${name}: the loop succeeds`, output);
  const reported = lines.filter((line) => line.startsWith('frame ')).length;
  check(reported === FRAMES / 10 && output.includes(`${FRAMES} frames`), `${name}: it reports all its frames`, output);
  check(/recreated [1-9]/.test(output), `${name}: it survives the death of the server`, output);
  return current;
};

const findAddresses = async (settings = {}) => {
  const [httpPort, grpcPort] = [await freePort(), await freePort()];
  return { httpPort, grpcPort, http: `127.0.0.1:${httpPort}`, grpc: `127.0.0.1:${grpcPort}`, settings };
};

const testPlain = async (parts, addresses) => {
  let server = await startServer(addresses);
  try {
    for (const [name, part] of parts) {
      if (part.example) {
        const [command, ...args] = part.example(addresses);
        const ran = run(command, args, { timeout: LOOP_LIMIT_MS });
        const isRight = ran.status === 0 && part.prints.test(ran.stdout);
        check(isRight, `${name}: the example of its page runs`, `${ran.stdout}${ran.stderr}${ran.error ?? ''}`);
      }
      if (name === 'c++') testBullet(part.bullet, addresses);
      if (part.tests) await runTests(name, part.tests(addresses));
      for (const [what, commandOf] of part.loops) server = await runLoop(what, commandOf(addresses), server, addresses);
    }
  } finally {
    await kill(server);
  }
};

/** Two services, one of which requires client certificates and API keys; proxies terminate their TLS for HTTP. */
const testTls = async (parts, folder) => {
  makeCertificates(folder);
  const at = (name) => join(folder, name);
  const key = randomBytes(24).toString('hex');
  writeFileSync(at('keys'), `tester:${createHash('sha256').update(key).digest('hex')}\n`);
  const tls = { INTERSTICE_GRPC_TLS_CERT: at('server.crt'), INTERSTICE_GRPC_TLS_KEY: at('server.key') };
  const open = await findAddresses(tls);
  const guarded = await findAddresses({
    ...tls,
    INTERSTICE_GRPC_TLS_CLIENT_CA: at('ca.crt'),
    INTERSTICE_API_KEYS: at('keys'),
  });
  const proxies = [
    await openTlsProxy({ folder, name: 'server', to: open.httpPort }),
    await openTlsProxy({ folder, name: 'server', to: guarded.httpPort, clientCa: 'ca.crt' }),
    await openTlsProxy({ folder, name: 'misnamed', to: open.httpPort }),
  ];
  const [https, mutual, misnamed] = proxies.map((proxy) => `127.0.0.1:${proxy.address().port}`);
  /** The arguments of the tests. */
  const tlsArguments = (scheme) => {
    const [first, second] = scheme === 'https' ? [https, mutual] : [open.grpc, guarded.grpc];
    return [
      folder,
      key,
      ...[first, second, misnamed].map((address) => `${scheme}://${address}`),
      `${scheme.slice(0, -1)}://${open.http}`,
    ];
  };
  const servers = await Promise.all([open, guarded].map(startServer));
  try {
    for (const [, part] of parts) {
      for (const [what, commandOf] of part.tlsTests) await runTests(what, commandOf(tlsArguments));
      for (const [what, variable, commandOf] of part.tlsLoops) {
        const environment = { [variable]: at('ca.crt') };
        servers[0] = await runLoop(what, commandOf({ ...open, https }), servers[0], open, environment);
      }
    }
  } finally {
    await Promise.all(servers.map(kill));
    for (const proxy of proxies) proxy.close();
  }
};

mkdirSync(build, { recursive: true });
const parts = Object.entries({ python: preparePython(), 'c++': prepareCpp(), typescript }).filter(([, part]) => part);
const [only] = process.argv.slice(2);
if (only !== 'tls') await testPlain(parts, await findAddresses());
if (only === 'plain') print('      TLS is not part of this run.');
else if (works('openssl', 'version')) {
  const folder = mkdtempSync(join(tmpdir(), 'interstice-tls-'));
  try {
    const since = performance.now();
    await testTls(parts, folder);
    print(`      All TLS tests took ${((performance.now() - since) / 1000).toFixed(1)} s.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  skip('TLS', 'openssl is missing');
}
process.exitCode = total.failed === 0 ? 0 : 1;
print(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
