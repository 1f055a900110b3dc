/** Builds the clients of three languages for their tests, as their users would. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, startProgram } from './program.mjs';

const clients = join(root, 'clients');
const build = join(root, '.build', 'clients');
/** Time limit of a step of a build that hangs. */
const BUILD_LIMIT_MS = 1_200_000;

/**
 * What is tested of a client. Commands are arrays of a program and its arguments.
 *
 * @typedef {object} ClientPart
 * @property {(server) => string[]} [example] the example of its page; it prints what `prints` matches
 * @property {RegExp} prints
 * @property {(server) => string[]} [tests]
 * @property {[name, (server) => string[]][]} loops falling cloths, which survive the death of the server
 * @property {[name, (tlsArguments) => string[]][]} tlsTests
 * @property {[name, variable, (server) => string[]][]} tlsLoops these read the authority from an environment variable,
 *   which depends on the library
 * @property {string} [bullet] a program of sheets in Bullet
 */

/** Whether a program is there and succeeds. */
export const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const run = async (command, args, options = {}) => {
  const { ended, log } = startProgram(command, args, { timeout: BUILD_LIMIT_MS, ...options });
  return { isRight: (await ended) === 0, output: log() };
};

/** Runs commands one after another, all of them. */
const runAll = async (command, lists, options) => {
  const results = [];
  for (const args of lists) results.push(await run(command, args, options));
  return { isRight: results.every(({ isRight }) => isRight), output: results.map(({ output }) => output).join('') };
};

const findPython = () =>
  ['python3', '/usr/bin/python3'].find((python) => works(python, '-c', 'import numpy, grpc, google.protobuf'));

/** Builds the wheel without network, as for publishing, and installs it in an empty folder. */
const installWheel = async (python, folder, tally) => {
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
  const pip = [
    ['wheel', '--no-build-isolation', '-w', 'out', './clients/python'],
    ['install', '--find-links', 'out', '--target', folder, 'interstice'],
  ].map((args) => ['-m', 'pip', ...args, '--no-deps', '--no-index']);
  const { isRight, output } = await runAll(python, pip, { cwd: join(build, 'wheel') });
  const names = ['py.typed', join('v1', 'collision_pb2.pyi'), join('v1', 'collision_pb2_grpc.pyi')];
  const isWhole = names.every((name) => existsSync(join(folder, 'interstice', name)));
  tally.check(isRight && isWhole, 'python: the wheel is built and installed', output);
  if (!works(python, '-m', 'mypy', '--version')) tally.skip('python: types', 'no python3-mypy');
  else {
    const args = ['-m', 'mypy', '--config-file', join(source, 'pyproject.toml'), 'interstice'];
    const typed = await run(python, args, { cwd: folder });
    tally.check(typed.isRight, 'python: mypy --strict finds nothing', typed.output);
  }
  return isWhole;
};

/** The example of a page as a program: its unchanged blocks of code one after another, except for the ports. */
const exampleOf = (page, { http, grpc }) =>
  [...readFileSync(page, 'utf8').matchAll(/^```(?:python|ts)\n([\s\S]*?)^```/gm)]
    .map(([, code]) => code.replaceAll('127.0.0.1:8080', http).replaceAll('127.0.0.1:50051', grpc))
    .join('\n');

/** @returns {Promise<ClientPart | undefined>} undefined = it cannot be built; the tally says why */
export async function preparePython(tally) {
  const python = findPython();
  if (!python) return tally.skip('the Python client', 'no python3 with numpy, grpcio and protobuf');
  if (!works('protoc', '--version') || !works('which', 'grpc_python_plugin')) {
    return tally.skip('the Python client', 'no protoc with grpc_python_plugin');
  }
  const folder = join(build, 'python');
  if (!(await installWheel(python, folder, tally))) return undefined;
  const tests = [
    'support',
    'test_client',
    'test_sessions',
    'test_settings',
    'test_jobs',
    'test_untangle',
    'test_limits',
    'test_grpc',
    'test_tls',
  ];
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
}

/** @returns {Promise<ClientPart | undefined>} as for Python */
export async function prepareCpp(tally) {
  const tools = ['cmake', 'protoc', 'pkg-config'].filter((tool) => !works(tool, '--version'));
  if (tools.length > 0) return tally.skip('the C++ client', `no ${tools.join(', ')}`);
  if (!works('pkg-config', '--exists', 'grpc++', 'protobuf')) return tally.skip('the C++ client', 'no libgrpc++-dev');
  const folder = join(build, 'cpp');
  const built = await runAll('cmake', [
    // Its programs wait for the service; optimising them takes longer than running them.
    ['-S', join(clients, 'cpp'), '-B', folder, '-DCMAKE_BUILD_TYPE=Debug'],
    ['--build', folder, '--parallel', '2'],
  ]);
  if (!tally.check(built.isRight, 'c++: the client is built', built.output)) return undefined;
  // A separate project finds the installed package.
  const [installed, example] = [join(build, 'cpp-installed'), join(build, 'cpp-example')];
  for (const old of [installed, example]) rmSync(old, { recursive: true, force: true });
  const used = await runAll('cmake', [
    ['--install', folder, '--prefix', installed],
    ['-S', join(clients, 'cpp', 'example'), '-B', example, `-DCMAKE_PREFIX_PATH=${installed}`],
    ['--build', example],
  ]);
  tally.check(used.isRight, 'c++: find_package finds what was installed', used.output);
  const loop = join(folder, 'falling_cloth');
  return {
    tests: ({ grpc }) => [join(folder, 'client_test'), grpc],
    ...(existsSync(join(folder, 'two_worlds')) ? { bullet: join(folder, 'two_worlds') } : {}),
    ...(used.isRight ? { example: ({ grpc }) => [join(example, 'two_triangles'), `grpc://${grpc}`] } : {}),
    prints: /^(?:\d+ steps so far\n)+[A-Z_]+, height 0\.0\d+\n$/,
    loops: [
      ['c++', ({ grpc }) => [loop, grpc]],
      ['c++, stream', ({ grpc }) => [loop, grpc, '--stream']],
    ],
    tlsTests: [['c++, TLS', (tlsArguments) => [join(folder, 'tls_test'), ...tlsArguments('grpcs')]]],
    tlsLoops: [['c++, TLS', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', ({ grpc }) => [loop, `grpcs://${grpc}`, '--stream']]],
  };
}

/** The other tests of this client are part of `npm test`. @returns {ClientPart} */
export function prepareTypescript() {
  const command = (program, ...args) => [process.execPath, join(clients, 'typescript', program), ...args];
  return {
    example: (addresses) => {
      mkdirSync(build, { recursive: true });
      // The file lies inside the package, whose name the example imports.
      const path = join(build, 'readme.mjs');
      writeFileSync(path, exampleOf(join(clients, 'typescript', 'README.md'), addresses));
      return [process.execPath, path];
    },
    prints: /^[A-Z_]+ 0\.0\d+\n(?:JOB_[A-Z]+ \S+\n)+[A-Z_]+\n$/,
    loops: [['typescript', ({ http }) => command('falling-cloth.mjs', `http://${http}`)]],
    tlsTests: [['typescript, HTTPS', (tlsArguments) => command('tls-test.mjs', ...tlsArguments('https'))]],
    tlsLoops: [
      ['typescript, HTTPS', 'NODE_EXTRA_CA_CERTS', ({ https }) => command('falling-cloth.mjs', `https://${https}`)],
    ],
  };
}
