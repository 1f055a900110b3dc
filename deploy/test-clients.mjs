/**
 * Tests the clients against real servers. test-clients.sh prepares the folder and calls this program. Two rows of tests
 * run at a time; the second one begins with the compiler.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { prepareCpp, preparePython, prepareTypescript, works } from './client-parts.mjs';
import { startServer } from './client-server.mjs';
import { root, startProgram } from './program.mjs';
import { openTally } from './tally.mjs';
import { makeCertificates, openTlsProxy } from './tls-proxies.mjs';

const isRequired = process.env.INTERSTICE_REQUIRE_CLIENTS === '1';

/** Time limit of a program that hangs: a loop of 60 frames takes seconds on an idle machine. */
const LOOP_LIMIT_MS = 600_000;
const FRAMES = 60;
/** By this frame the sheets lie on the ball and on each other. */
const BULLET_FRAMES = 25;
/** The server is killed when a loop has reported this frame. */
const KILL_AT = 20;
/** Enough of the output of a failed program to see the cause. */
const MOST_SHOWN = 4000;

const [only] = process.argv.slice(2);
/** The plain tests alone take one client with packages of its own and one loop of a client, the next day the next one. */
const day = Math.floor(Date.now() / 86_400_000);
const isOfToday = (index, count) => only !== 'plain' || index === day % count;
/** The days on which a client is taken are all even or all odd, so loops change every other day. */
const ofToday = (loops) => (only === 'plain' ? [loops[Math.floor(day / 2) % loops.length]] : loops);

const counted = openTally('clients');
const check = (isRight, what, output = '') => counted.check(isRight, what, output.slice(-MOST_SHOWN));
const skip = (what, reason) => {
  if (isRequired) check(false, what, reason);
  else counted.skip(what, reason);
};
const tally = { check, skip };

const TALLY = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m;

const start = ([command, ...args], options = {}) => startProgram(command, args, { cwd: root, ...options });
const limited = { timeout: LOOP_LIMIT_MS, killSignal: 'SIGKILL' };

/** Tests sheets in Bullet, whose world alone intersects and whose guarded world must not. */
const testBullet = async (command, { grpc }) => {
  if (!command) {
    return counted.skip('c++: the example with Bullet', 'no libbullet-dev (deploy/install-bullet.sh)');
  }
  const ran = start([command, `grpc://${grpc}`, '--frames', String(BULLET_FRAMES)], limited);
  const code = await ran.ended;
  const counts = [...ran.said().matchAll(/: (\d+) of (\d+) frames intersect/g)].map(([, ...numbers]) =>
    numbers.map(Number),
  );
  const [[alone] = [], [guarded, frames] = []] = counts;
  const isRight = code === 0 && alone > 0 && guarded === 0 && frames === BULLET_FRAMES;
  check(
    isRight,
    `c++: Bullet's cloth intersects in ${alone} of ${frames} frames alone and in ${guarded} with Interstice`,
    ran.log(),
  );
};

const runTests = async (name, command) => {
  const tests = start(command, limited);
  const code = await tests.ended;
  const [passed, failed, skipped] = TALLY.exec(tests.said())?.slice(1).map(Number) ?? [];
  const isWhole = failed !== undefined && (code === 0) === (failed === 0);
  check(isWhole, `${name}: its tests run to completion`, tests.log());
  if (failed === undefined) return;
  counted.add({ passed, failed, skipped });
  process.stdout.write(`      ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (failed > 0) process.stdout.write(tests.log());
};

/** Runs a falling cloth whose server is killed meanwhile. */
const runLoop = async (name, command, server, environment = {}) => {
  const loop = start(command, { env: { ...process.env, ...environment }, ...limited });
  let restarting;
  createInterface({ input: loop.child.stdout }).on('line', (line) => {
    if (!line.startsWith(`frame ${KILL_AT} `)) return;
    restarting = server.restart();
    restarting.catch(() => {});
  });
  const code = await loop.ended;
  await restarting;
  const output = loop.log();
  check(code === 0, `${name}: the loop succeeds`, output);
  const reported = output.split('\n').filter((line) => line.startsWith('frame ')).length;
  check(reported === FRAMES / 10 && output.includes(`${FRAMES} frames`), `${name}: it reports all its frames`, output);
  check(/recreated [1-9]/.test(output), `${name}: it survives the death of the server`, output);
};

const testExample = async (name, { example, prints }, server) => {
  if (!example) return;
  const ran = start(example(server), limited);
  const code = await ran.ended;
  check(code === 0 && prints.test(ran.said()), `${name}: the example of its page runs`, ran.log());
};

/** @param part undefined = it could not be built, which is counted */
const testPlain = async (name, part) => {
  if (!part) return;
  const server = await startServer();
  try {
    await testExample(name, part, server);
    if (name === 'c++') await testBullet(part.bullet, server);
    if (part.tests) await runTests(name, part.tests(server));
    for (const [what, commandOf] of ofToday(part.loops)) await runLoop(what, commandOf(server), server);
  } finally {
    await server.end();
  }
};

/** Two services, one of which requires client certificates and API keys; proxies terminate their TLS for HTTP. */
const testTls = async (parts, folder) => {
  makeCertificates(folder);
  const at = (name) => join(folder, name);
  const key = randomBytes(24).toString('hex');
  writeFileSync(at('keys'), `tester:${createHash('sha256').update(key).digest('hex')}\n`);
  const tls = { INTERSTICE_GRPC_TLS_CERT: at('server.crt'), INTERSTICE_GRPC_TLS_KEY: at('server.key') };
  const open = await startServer(tls);
  const guarded = await startServer({
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
  try {
    for (const part of parts) {
      for (const [what, commandOf] of part.tlsTests) await runTests(what, commandOf(tlsArguments));
      for (const [what, variable, commandOf] of part.tlsLoops) {
        await runLoop(what, commandOf({ ...open, https }), open, { [variable]: at('ca.crt') });
      }
    }
  } finally {
    await Promise.all([open.end(), guarded.end()]);
    for (const proxy of proxies) proxy.close();
  }
};

const testAllTls = async (parts) => {
  if (!works('openssl', 'version')) return skip('TLS', 'openssl is missing');
  const folder = mkdtempSync(join(tmpdir(), 'interstice-tls-'));
  try {
    await testTls(parts, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const python = isOfToday(0, 2) ? preparePython(tally) : undefined;
const cpp = isOfToday(1, 2) ? prepareCpp(tally) : undefined;
if (only === 'plain') process.stdout.write(`      Today without the client in ${python ? 'C++' : 'Python'}.\n`);
const typescript = prepareTypescript();
const firstRow = async () => {
  if (only === 'tls') return;
  await testPlain('typescript', typescript);
  await testPlain('python', await python);
};
const secondRow = async () => {
  if (only !== 'tls') await testPlain('c++', await cpp);
  if (only === 'plain') return process.stdout.write('      TLS is not part of this run.\n');
  await testAllTls([await python, await cpp, typescript].filter((part) => part !== undefined));
};
// If one row breaks off, the other one still ends its servers.
for (const { reason } of await Promise.allSettled([firstRow(), secondRow()])) {
  if (reason) check(false, 'a row of tests runs to its end', reason.stack ?? String(reason));
}
counted.end();
