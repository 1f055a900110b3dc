/**
 * Uses the built service and command line as a new user would: starts `serve`, posts an example pair as files, resolves the
 * same pair with the command line, stops the service. Prints one line per check, then `N passed, N failed, N skipped`.
 *
 *     node deploy/smoke.mjs [NODE] [ROOT]
 *
 * NODE: the Node program that runs the product, default: the current one. ROOT: its folder, default: this checkout.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = process.argv[3] ?? dirname(dirname(fileURLToPath(import.meta.url)));
const node = process.argv[2] ?? process.execPath;
const program = join(root, 'dist', 'src', 'cli', 'main.js');
const pair = (name) => join(root, 'examples', 'pairs', 'layers', name);

/** For what hangs: each takes seconds on a machine without other work. */
const LIMIT_MS = 300_000;

let passed = 0;
let failed = 0;
const check = (isRight, what, detail = '') => {
  if (isRight) passed += 1;
  else failed += 1;
  process.stdout.write(
    `${isRight ? ' ok ' : 'FAIL'}  smoke: ${what}${isRight || detail === '' ? '' : ` (${detail})`}\n`,
  );
};

const countVertices = (obj) => obj.split('\n').filter((line) => line.startsWith('v ')).length;

/** Polls until the service has said where it is and is ready. @returns its URL; undefined when it has ended, or the time limit is reached */
const waitUntilReady = async (said, service) => {
  for (const since = Date.now(); Date.now() - since < LIMIT_MS && service.exitCode === null; await pause(200)) {
    const url = /^address (http:\S+)$/m.exec(said())?.[1];
    const answer = url && (await fetch(`${url}/readyz`).catch(() => undefined));
    await answer?.arrayBuffer();
    if (answer?.ok) return url;
  }
  return undefined;
};

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
  const service = spawn(node, [program, 'serve'], {
    cwd: root,
    env: { ...process.env, INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: '0', INTERSTICE_ADMIN_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [service.stdout, service.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = once(service, 'exit');
  try {
    const url = await waitUntilReady(() => output, service);
    check(url !== undefined, 'the service becomes ready', output);
    if (url === undefined) return;
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
    service.kill('SIGTERM');
    const late = pause(LIMIT_MS, 'late', { ref: false });
    const end = await Promise.race([ended, late]);
    check(
      end !== 'late' && end[0] === 0,
      'SIGTERM ends the service with exit code 0',
      `${end}; ${output.slice(-2000)}`,
    );
  } finally {
    service.kill('SIGKILL');
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
process.exitCode = failed === 0 ? 0 : 1;
process.stdout.write(`${passed} passed, ${failed} failed, 0 skipped\n`);
