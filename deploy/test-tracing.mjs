/**
 * Starts the built service with deploy/opentelemetry/tracing.mjs and OpenTelemetry's SDK from npm, resolves an example
 * pair as part of a trace, and waits until a receiver of the OTLP protocol has the spans. Prints one line per check,
 * then `N passed, N failed, N skipped`.
 *
 *     node deploy/test-tracing.mjs [SDK]     SDK: node_modules that has @opentelemetry/sdk-node; without it npm fetches it
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { root, startProgram, until } from './program.mjs';
import { openTally } from './tally.mjs';

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

const service = startProgram(process.execPath, [join(root, 'dist', 'src', 'cli', 'main.js'), 'serve'], {
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
try {
  const address = await until('the service starts', WAIT_MS, () =>
    service.child.exitCode === null ? /^address (\S+)/m.exec(service.said())?.[1] : '',
  );
  if (address === '') throw new Error(`The service has ended:\n${service.log()}`);
  check(true, 'the service starts with the SDK');
  const form = new FormData();
  const pair = (name) => readFileSync(join(root, 'examples', 'pairs', 'layers', name));
  for (const name of ['start', 'target']) form.append(name, new Blob([pair(`${name}.obj`)]), `${name}.obj`);
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  const answer = await fetch(`${address}/v1/resolve`, { method: 'POST', body: form, headers });
  check(answer.status === 200, 'a resolve is answered', await answer.text());
  const named = ({ name }) => name === 'interstice resolve';
  const span = await until('its span reaches the receiver', WAIT_MS, () => spans.find(named));
  check(true, 'its span reaches the receiver');
  check(
    span.traceId === TRACE && span.parentSpanId === PARENT,
    "it belongs to the caller's trace",
    JSON.stringify(span),
  );
  check(span.service === 'interstice', 'it names the service', span.service);
  const children = spans.filter(({ parentSpanId }) => parentSpanId === span.spanId).map(({ name }) => name);
  check(children.includes('interstice verify'), 'its stages are its children', children.join());
  service.child.kill('SIGTERM');
  const code = await service.ended;
  check(code === 0, 'the service ends with code 0', `${code}: ${service.log()}`);
} catch (thrown) {
  check(false, thrown.message, service.log());
} finally {
  service.child.kill('SIGKILL');
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
}
tally.end();
