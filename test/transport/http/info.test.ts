import t from 'tap';
import { ENUMS, MESSAGES } from '../../../src/transport/messages/schema.js';
import { openDoor } from '../door.js';
import { arraysRequest } from '../fixtures.js';

t.test('GET /v1 describes the service', async (t) => {
  const { app } = await openDoor(t);
  const answer = await app.inject({ url: '/v1' });
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), {
    version: '0.1.0',
    engines: [{ name: 'cpu', software: true, maxBufferBytes: '0' }],
    limits: {
      ...{ maxVertices: '1000', maxQueue: 4, maxTimeBudget: '1.500s', defaultTimeBudget: '0.500s' },
      ...{ maxPairsPerRequest: '1000000', maxWorkBytes: '8589934592' },
    },
    defaults: { preset: 'TUNED', damping: 0.9 },
    features: ['resolve', 'check'],
  });
});

t.test('the health paths answer', async (t) => {
  const { app, state } = await openDoor(t);
  t.same((await app.inject({ url: '/livez' })).json(), { status: 'ok' });
  t.match((await app.inject({ url: '/readyz' })).json(), { status: 'ready' });
  state.move('failed', 'No engine.');
  const failed = await app.inject({ url: '/readyz' });
  t.equal(failed.statusCode, 503);
  t.same(failed.json(), { status: 'failed', reason: 'No engine.' });
  state.move('draining', 'Going down.');
  state.move('ready', 'too late');
  t.match((await app.inject({ url: '/readyz' })).json(), { status: 'draining', reason: 'Going down.' });
  t.equal((await app.inject({ url: '/livez' })).statusCode, 200);
  const work = await app.inject({ method: 'POST', url: '/v1/resolve', payload: arraysRequest() });
  t.equal(work.statusCode, 503);
  t.match(work.json(), { code: 'DRAINING', retryable: true, retryAfter: '1s' });
});

t.test('the OpenAPI document describes every path, message and code', async (t) => {
  const { app } = await openDoor(t);
  const document = (await app.inject({ url: '/openapi.json' })).json();
  t.match(document.openapi, /^3\.1/);
  t.same(Object.keys(document.paths).sort(), [
    '/livez',
    '/readyz',
    '/v1',
    '/v1/check',
    '/v1/diagnose',
    '/v1/jobs',
    '/v1/jobs/{id}',
    '/v1/jobs/{id}/result',
    '/v1/jobs/{id}/watch',
    '/v1/resolve',
    '/v1/sessions',
    '/v1/sessions/{id}',
    '/v1/sessions/{id}/report',
    '/v1/sessions/{id}/steps',
    '/v1/untangle',
  ]);
  const chapters = document.tags.map(({ name }: { name: string }) => name);
  for (const [path, methods] of Object.entries<Record<string, { tags?: string[] }>>(document.paths)) {
    for (const [method, { tags = [] }] of Object.entries(methods)) {
      t.ok(tags.length === 1 && chapters.includes(tags[0]), `${method} ${path} is in one chapter`);
    }
  }
  const schemas = document.components.schemas;
  for (const name of [...MESSAGES.keys(), ...ENUMS.keys(), 'Problem']) t.ok(schemas[name], name);
  t.match(schemas.Mesh.properties.triangles, {
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }],
  });
  t.match(schemas.Mesh.properties.triangles.description, /uint32/);
  const timings = Object.entries<{ description: string }>(schemas.Timings.properties);
  for (const [stage, { description }] of timings) t.match(description, /^µs, /, `unit of timings.${stage}`);
  for (const name of ['distanceToTargetMax', 'distanceToTargetRms', 'minDistance', 'kinematicDistanceMax']) {
    t.match(schemas.Report.properties[name].description, /in the unit of the positions/, `unit of ${name}`);
  }
  for (const name of ['Parameters', 'Report', 'MeshSummary', 'Fidelity', 'Pair']) {
    t.match(schemas[name].description, /in the unit of the positions/, `unit of lengths in ${name}`);
  }
  const resolve = document.paths['/v1/resolve'].post;
  t.match(resolve.requestBody.content['application/json'].schema.$ref, /ResolveRequest$/);
  t.ok(resolve.requestBody.content['multipart/form-data']);
  t.match(resolve.responses['422'].description, /INTERSECTING_START/);
  t.ok(resolve.responses['422'].content['application/problem+json']);
  t.ok(resolve.requestBody.content['application/x-protobuf']);
  const one = document.paths['/v1/sessions/{id}'];
  t.same(Object.keys(one).sort(), ['delete', 'get', 'patch']);
  t.notOk(one.delete.responses['204'].content);
  t.match(one.get.responses['404'].description, /SESSION_NOT_FOUND/);
  t.equal(resolve.responses['409'], undefined, 'a resolve knows no frames');
  for (const path of ['/v1/sessions/{id}/steps', '/v1/jobs'])
    t.match(document.paths[path].post.responses['409'].description, /FRAME_CONFLICT.*FRAME_LOST/, path);
  const step = document.paths['/v1/sessions/{id}/steps'].post;
  t.ok(
    step.requestBody.content['application/octet-stream'] && step.responses['200'].content['application/octet-stream'],
  );
  t.match(
    step.parameters.map(({ name }: { name: string }) => name),
    [
      'scalar',
      'frame',
      'after_frame',
      'id',
      'x-session-id',
      'interstice-time-budget-ms',
      'interstice-on-budget',
      'interstice-override',
    ],
  );
  for (const match of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
    if (!schemas[String(match[1])]) t.fail(`dangling reference to ${match[1]}`);
  }
});

t.test('the page at /docs needs no other server', async (t) => {
  const { app } = await openDoor(t);
  const page = await app.inject({ url: '/docs/' });
  t.equal(page.statusCode, 200);
  const policy = String(page.headers['content-security-policy']);
  t.match(policy, /default-src 'self'/);
  t.notMatch(policy, /upgrade-insecure-requests|https:/, 'and loads by plain http from another machine');
  t.notMatch(page.body, /(src|href)="(https?:)?\/\//);
  const scripts = [...page.body.matchAll(/src="([^"]+)"/g)].map((match) => String(match[1]));
  t.ok(scripts.length > 0);
  for (const script of scripts) {
    const path = new URL(script, 'http://x/docs/').pathname;
    t.equal((await app.inject({ url: path })).statusCode, 200, path);
  }
});
