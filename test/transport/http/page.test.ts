import { pino } from 'pino';
import t, { type Test } from 'tap';
import { makeKey } from '../../../src/transport/auth/key-file.js';
import { Keyring } from '../../../src/transport/auth/keyring.js';
import { buildHttpApp } from '../../../src/transport/http/app.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { ServiceState } from '../../../src/transport/service-state.js';
import { FakeOperations } from '../fake-operations.js';

const SCRIPT = 'page-0123456789ab.mjs';
const BUILT = {
  'index.html': `<!doctype html><script type="module" src="page/${SCRIPT}"></script>`,
  'interstice.html': '<!doctype html><title>All in one</title>',
  [SCRIPT]: 'export {};',
  'page-ba9876543210.css': 'body { margin: 0 }',
  'secret.txt': 'not a file of the page',
};
const PERSON = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function openWithPage(t: Test, files: Record<string, string>, key?: { readonly line: string }) {
  const state = new ServiceState();
  state.move('ready', 'The service takes requests.');
  const folder = t.testdir({ page: files, ...(key ? { keys: `${key.line}\n` } : {}) });
  const app = await buildHttpApp({
    operations: new FakeOperations(),
    state,
    bodies: new BodyLedger(0),
    maxMessageBytes: 65536,
    log: pino({ level: 'silent' }),
    pageFolder: `${folder}/page`,
    ...(key ? { authenticate: Keyring.open(`${folder}/keys`).authenticate } : {}),
  });
  await app.ready();
  t.teardown(() => app.close());
  return app;
}

t.test('the root serves the page to browsers and JSON with links to programs', async (t) => {
  const app = await openWithPage(t, BUILT);
  const person = await app.inject({ url: '/', headers: PERSON });
  t.equal(person.statusCode, 200);
  t.match(person.headers['content-type'], /^text\/html/);
  t.equal(person.body, BUILT['index.html']);
  const program = await app.inject('/');
  t.match(program.json(), { service: 'interstice', reference: 'docs' });
  for (const path of ['reference', 'openapi', 'server', 'ready', 'sessions'] as const)
    t.equal((await app.inject(`/${program.json()[path]}`)).statusCode, 200, path);
});

t.test('without a page the root leads people to the reference', async (t) => {
  const app = await openWithPage(t, {});
  const person = await app.inject({ url: '/', headers: PERSON });
  t.equal(person.statusCode, 302);
  t.equal((await app.inject(new URL(String(person.headers.location), 'http://x/').pathname)).statusCode, 200);
  t.match((await app.inject('/')).json(), { service: 'interstice' });
});

t.test('the page may load what is its own, and nothing else', async (t) => {
  const app = await openWithPage(t, BUILT);
  for (const url of ['/', `/page/${SCRIPT}`, '/page/interstice.html']) {
    const { headers } = await app.inject({ url, headers: PERSON });
    const policy = new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((rule) => rule.split(' ', 1).concat(rule) as [string, string]),
    );
    t.equal(policy.get('default-src'), "default-src 'none'", url);
    t.equal(policy.get('script-src'), "script-src 'self'", url);
    t.notMatch([...policy.values()].join(), /unsafe|\*|https?:/, url);
    t.equal(policy.get('frame-ancestors'), "frame-ancestors 'none'", url);
    t.equal(headers['x-content-type-options'], 'nosniff', url);
  }
});

t.test('files whose names carry their hash are kept for good, others are asked for again', async (t) => {
  const app = await openWithPage(t, BUILT);
  const script = await app.inject(`/page/${SCRIPT}`);
  t.match(script.headers, { 'content-type': /^text\/javascript/, 'cache-control': /immutable/ });
  t.match((await app.inject('/page/page-ba9876543210.css')).headers, { 'content-type': /^text\/css/ });
  const index = await app.inject({ url: '/', headers: PERSON });
  t.equal(index.headers['cache-control'], 'no-cache');
  const again = await app.inject({ url: '/', headers: { ...PERSON, 'if-none-match': String(index.headers.etag) } });
  t.equal(again.statusCode, 304);
  t.equal(again.body, '');
  t.equal((await app.inject({ method: 'HEAD', url: `/page/${SCRIPT}` })).statusCode, 200);
});

t.test('only files of the page and of the examples have an address', async (t) => {
  const app = await openWithPage(t, BUILT);
  for (const url of [
    '/page/secret.txt',
    '/page/',
    '/page/../page/secret.txt',
    '/page/%2e%2e/package.json',
    '/page/examples/../../package.json',
  ])
    t.equal((await app.inject(url)).statusCode, 404, url);
  const names: string[] = (await app.inject('/page/examples.json')).json();
  t.ok(names.includes('spike') && names.includes('layers'), names.join());
  for (const name of names)
    for (const file of ['start.obj', 'target.obj', 'options.json'])
      t.equal((await app.inject(`/page/examples/${name}/${file}`)).statusCode, 200, `${name}/${file}`);
});

t.test('the page is there without a key, what it calls is not', async (t) => {
  const key = makeKey('red');
  const app = await openWithPage(t, BUILT, key);
  for (const url of ['/', `/page/${SCRIPT}`, '/page/examples.json'])
    t.equal((await app.inject({ url, headers: PERSON })).statusCode, 200, url);
  t.equal((await app.inject('/v1/sessions')).statusCode, 401);
});
