/**
 * Uses the built service and command line as a new user would: starts `serve`, posts an example pair as files, resolves
 * the same pair with the command line, and stops the service. Prints one line per check, then
 * `N passed, N failed, N skipped`.
 *
 *     node deploy/smoke.mjs [NODE] [ROOT]
 *
 * NODE: the Node program that runs the product, default: the current one. ROOT: its folder, default: this checkout.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root as checkout, startProgram, until } from './program.mjs';
import { openTally } from './tally.mjs';

const root = process.argv[3] ?? checkout;
const node = process.argv[2] ?? process.execPath;
const program = join(root, 'dist', 'src', 'cli', 'main.js');
const pair = (name) => join(root, 'examples', 'pairs', 'layers', name);

/** Time limit for programs that hang: each takes seconds on an idle machine. */
const LIMIT_MS = 300_000;

const tally = openTally('smoke');
const { check } = tally;

const countVertices = (obj) => obj.split('\n').filter((line) => line.startsWith('v ')).length;

/** @returns the URL of the service as soon as it is ready; nothing if it has ended. @throws Error at the time limit */
const waitUntilReady = (service) =>
  until('the service is ready', LIMIT_MS, async () => {
    if (service.child.exitCode !== null) return '';
    const url = /^address (http:\S+)$/m.exec(service.said())?.[1];
    return url !== undefined && (await fetch(`${url}/readyz`)).ok && url;
  });

const postPair = (url) => {
  const form = new FormData();
  for (const [part, name] of [
    ['start', 'start.obj'],
    ['target', 'target.obj'],
    ['options', 'options.json'],
  ]) {
    const type = part === 'options' ? 'application/json' : 'model/obj';
    form.append(part, new Blob([readFileSync(pair(name))], { type }), basename(name));
  }
  return fetch(`${url}/v1/resolve`, { method: 'POST', body: form, signal: AbortSignal.timeout(LIMIT_MS) });
};

const smokeService = async () => {
  const service = startProgram(node, [program, 'serve'], {
    cwd: root,
    env: { ...process.env, INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: '0', INTERSTICE_ADMIN_PORT: '0' },
  });
  try {
    const url = await waitUntilReady(service);
    check(url !== '', 'the service becomes ready', service.log());
    if (url === '') return;
    const info = await (await fetch(`${url}/v1`)).json();
    check(typeof info.version === 'string', 'GET /v1 states the version', JSON.stringify(info).slice(0, 500));
    const answer = await postPair(url);
    const body = await answer.text();
    check(answer.status === 200, 'POST /v1/resolve answers 200', `${answer.status}: ${body.slice(0, 500)}`);
    const expected = countVertices(readFileSync(pair('start.obj'), 'utf8'));
    check(countVertices(body) === expected, `the answer has the ${expected} vertices of the start`);
    const report = JSON.parse(answer.headers.get('interstice-report') ?? '{}');
    check(report.status === 'CONVERGED', 'the report says CONVERGED', JSON.stringify(report).slice(0, 500));
    const wrong = await fetch(`${url}/v1/resolve`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    check(wrong.status === 400, 'an empty request is refused with 400', String(wrong.status));
    service.child.kill('SIGTERM');
    const code = await Promise.race([service.ended, pause(LIMIT_MS, 'too late', { ref: false })]);
    check(code === 0, 'SIGTERM ends the service with exit code 0', `${code}; ${service.log().slice(-2000)}`);
  } catch (thrown) {
    check(false, thrown.message, service.log());
  } finally {
    service.child.kill('SIGKILL');
  }
};

const smokeCommandLine = () => {
  const folder = mkdtempSync(join(tmpdir(), 'interstice-smoke-'));
  const out = join(folder, 'answer.obj');
  const run = (...args) => spawnSync(node, [program, ...args], { cwd: root, encoding: 'utf8', timeout: LIMIT_MS });
  try {
    const resolve = run('resolve', pair('start.obj'), pair('target.obj'), '--options', pair('options.json'), '-o', out);
    check(resolve.status === 0, 'interstice resolve converges', `${resolve.status}: ${resolve.stderr}`);
    const verdict = run('check', out);
    check(
      verdict.status === 0,
      'interstice check finds the answer free of intersections',
      `${verdict.status}: ${verdict.stdout}`,
    );
    const path = run('check', pair('start.obj'), pair('target.obj'));
    check(
      path.status === 1,
      'interstice check finds that the straight path collides',
      `${path.status}: ${path.stderr}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const version = spawnSync(node, ['--version'], { encoding: 'utf8' });
process.stdout.write(
  `smoke run on Node ${version.stdout?.trim() || `that does not start: ${version.error?.message}`}\n`,
);
await smokeService();
smokeCommandLine();
tally.end();
