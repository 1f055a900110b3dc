/**
 * Starts the built service with deploy/opentelemetry/tracing.mjs and OpenTelemetry's SDK from npm, resolves an example pair as part of a
 * trace, and waits until a receiver of the OTLP protocol has the spans. Prints one line per check, then `N passed, N failed, N skipped`.
 *
 *     node deploy/test-tracing.mjs [SDK]     SDK: node_modules that has @opentelemetry/sdk-node; without it npm fetches it
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTally } from './tally.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const WAIT_MS = 60_000;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const tally = openTally('tracing');
const { check } = tally;

const folder = mkdtempSync(join(tmpdir(), 'interstice-tracing-'));
copyFileSync(join(root, 'deploy', 'opentelemetry', 'tracing.mjs'), join(folder, 'tracing.mjs'));
const [sdk] = process.argv.slice(2);
if (sdk !== undefined) symlinkSync(resolve(sdk), join(folder, 'node_modules'));
else {
  writeFileSync(join(folder, 'package.json'), '{}');
  const flags = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '@opentelemetry/sdk-node@^0'];
  const { status, stderr } = spawnSync('npm', flags, { cwd: folder, encoding: 'utf8' });
  check(status === 0, 'npm installs the SDK', stderr);
}

/** Every span that has arrived, with the name of its service. */
const spans = [];
const receiver = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString('utf8');
  for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans ?? []) {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
    for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ service, ...span })));
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');

const service = spawn(process.execPath, [join(root, 'dist', 'src', 'cli', 'main.js'), 'serve'], {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: {
    ...process.env,
    NODE_OPTIONS: `--import ${join(folder, 'tracing.mjs')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.address().port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    INTERSTICE_ENGINE: 'cpu',
    INTERSTICE_HTTP_PORT: '0',
    INTERSTICE_GRPC_PORT: 'off',
    INTERSTICE_ADMIN_PORT: 'off',
  },
});
let log = '';
service.stderr.on('data', (chunk) => {
  log += chunk;
});
const ended = once(service, 'exit');
try {
  let address;
  for await (const line of createInterface({ input: service.stdout })) {
    [, address] = /^address (\S+)/.exec(line) ?? [];
    if (address) break;
  }
  check(address !== undefined, 'the service starts with the SDK', log);
  const form = new FormData();
  const pair = (name) => readFileSync(join(root, 'examples', 'pairs', 'layers', name));
  for (const name of ['start', 'target']) form.append(name, new Blob([pair(`${name}.obj`)]), `${name}.obj`);
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  const answer = await fetch(`${address}/v1/resolve`, { method: 'POST', body: form, headers });
  check(answer.status === 200, 'a resolve is answered', await answer.text());
  const find = () => spans.find(({ name }) => name === 'interstice resolve');
  for (const since = Date.now(); find() === undefined && Date.now() - since < WAIT_MS; ) await pause(100);
  const span = find();
  check(span !== undefined, 'its span reaches the receiver', log);
  check(
    span?.traceId === TRACE && span?.parentSpanId === PARENT,
    "it belongs to the caller's trace",
    JSON.stringify(span),
  );
  check(span?.service === 'interstice', 'it names the service', span?.service);
  const children = spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId).map(({ name }) => name);
  check(children.includes('interstice verify'), 'its stages are its children', children.join());
  service.kill('SIGTERM');
  const [code] = await ended;
  check(code === 0, 'the service ends with code 0', `${code}: ${log}`);
} finally {
  service.kill('SIGKILL');
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
}
tally.end();
