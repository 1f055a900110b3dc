import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { exampleRequests } from '../../../examples/requests.js';
import { readConfig } from '../../../src/config/config.js';
import { OPERATION_NAMES, OPERATIONS } from '../../../src/contract/operation-table.js';
import { projectRoot } from '../../../src/paths.js';
import { startServer } from '../../../src/server/server.js';
import { exampleOf } from '../../../src/transport/http/examples.js';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { MESSAGES } from '../../../src/transport/messages/schema.js';
import { openOperations } from '../../conformance/run.js';
import { openTab, skipWithoutChromium } from '../../support/chromium.js';
import { openDoor } from '../door.js';

// A browser beside other work takes its time.
t.setTimeout(600_000);

t.test('every message has an example that its decoder accepts', async (t) => {
  for (const name of MESSAGES.keys()) t.doesNotThrow(() => decodeJson(name, exampleOf(name)), name);
  for (const name of OPERATION_NAMES) {
    const { request, response } = OPERATIONS[name];
    t.ok(exampleOf(request) && exampleOf(response), name);
  }
});

t.test('the examples of requests are those of the files', async (t) => {
  const files = {
    resolve: 'ResolveRequest',
    check: 'CheckRequest',
    diagnose: 'DiagnoseRequest',
    untangle: 'UntangleRequest',
    session: 'CreateSessionRequest',
    step: 'StepRequest',
  };
  for (const [name, message] of Object.entries(files)) {
    const path = join(projectRoot, 'examples', 'requests', `${name}.json`);
    t.same(exampleOf(message), JSON.parse(readFileSync(path, 'utf8')), name);
    t.same(exampleOf(message), exampleRequests().get(name), `${name} is generated`);
  }
});

t.test('the document offers no limits of number formats and no empty texts', async (t) => {
  const { app } = await openDoor(t);
  const document = (await app.inject('/openapi.json')).json();
  t.notMatch(JSON.stringify(document), /4294967295|2147483648/);
  for (const [name, schema] of Object.entries<{ type: string; examples?: unknown[] }>(document.components.schemas)) {
    if (schema.type === 'object') t.equal(schema.examples?.length, 1, name);
  }
});

/** In the page: opens an operation, presses "Try it out", fills parameters in, and executes. */
const tryOut = (id: string, parameters: Readonly<Record<string, string>> = {}) => `(async () => {
  const until = async (look) => {
    for (;;) {
      const found = look();
      if (found) return found;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  };
  const block = await until(() => document.querySelector('[id="operations-${id}"]'));
  if (!block.classList.contains('is-open')) block.querySelector('.opblock-summary-control').click();
  (await until(() => block.querySelector('.try-out__btn'))).click();
  const text = (await until(() => block.querySelector('.execute'))) && block.querySelector('textarea.body-param__text');
  const shown = text?.value ?? '';
  for (const [name, value] of Object.entries(${JSON.stringify(parameters)})) {
    const input = block.querySelector('tr[data-param-name="' + name + '"] input');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, value);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    // The field waits for a pause in typing, or until it is left.
    input.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
  }
  block.querySelector('.execute').click();
  const row = await until(() => block.querySelector('.live-responses-table .response'));
  const status = Number(row.querySelector('.response-col_status').textContent.trim().slice(0, 3));
  const samples = [...block.querySelectorAll('.responses-wrapper .model-example, .responses-wrapper .example')];
  const tried = { status, shown, body: row.innerText, samples: samples.map((one) => one.textContent).join('\\n') };
  // The page draws all open operations anew for each of the next ones.
  block.querySelector('.opblock-summary-control').click();
  return tried;
})()`;

interface Tried {
  readonly status: number;
  readonly shown: string;
  readonly body: string;
  readonly samples: string;
}

t.test('"Try it out" works for every operation as it is offered', { skip: skipWithoutChromium }, async (t) => {
  const environment = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
  const options = { log: pino({ level: 'silent' }), handleSignals: false };
  const server = await startServer(readConfig(environment), await openOperations(t), options);
  t.teardown(() => server.close());
  const page = await openTab(t);
  await page.goto(`${server.address}/docs`);
  const press = async (id: string, status: number, parameters: Record<string, string> = {}) => {
    const tried = await page.evaluate<Tried>(tryOut(id, parameters));
    t.equal(tried.status, status, `${id}: ${tried.body.slice(0, 200)}`);
    t.match(tried.samples, status === 204 ? /^/ : /["{]/, `${id}: answers are shown`);
    t.notMatch(tried.shown, /"string"|4294967295/, `${id}: the request`);
    t.notMatch(tried.samples, /"string"|4294967295/, `${id}: the answers`);
    return tried;
  };
  await press('server-getServerInfo', 200);
  t.match((await press('resolve-resolve', 200)).body, /CONVERGED/);
  await press('resolve-check', 200);
  const created = await press('sessions-createSession', 201);
  const id = /"id": "([0-9a-f]{32})"/.exec(created.body)?.[1] ?? '';
  t.match(id, /^.{32}$/);
  await press('sessions-listSessions', 200);
  await press('sessions-step', 200, { id });
  await press('sessions-getSession', 200, { id });
  await press('sessions-getReport', 200, { id });
  await press('sessions-updateSession', 200, { id });
  await press('sessions-deleteSession', 204, { id });
});
