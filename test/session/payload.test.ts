import t from 'tap';
import type { SubmitJobRequest } from '../../src/contract/long-jobs.js';
import type { StepRequest } from '../../src/contract/sessions.js';
import { digestOfJob, isSameCreation, isSamePayload, ownCopy } from '../../src/session/payload.js';

const base: StepRequest = {
  sessionId: 'a',
  target: Float32Array.of(1, 2, 3),
  kinematic: Uint8Array.of(1),
  override: { damping: 0.5 },
  include: { contacts: true },
};

t.test('payloads are compared by content', async (t) => {
  const same: Partial<StepRequest>[] = [
    {},
    { target: Float32Array.of(1, 2, 3) },
    { target: Float32Array.of(0, 1, 2, 3).subarray(1) },
    { kinematic: Buffer.from([1]) },
    { override: { damping: 0.5, leap: undefined } },
    { include: { contacts: true, vertices: false } },
    { partTargets: [] },
    { frame: 9n },
    { timeBudgetSeconds: 3, onBudget: 'FAIL', priority: 'BATCH' },
  ];
  for (const change of same) t.ok(isSamePayload(base, { ...base, ...change }), Object.keys(change).join());
  const other: Partial<StepRequest>[] = [
    { target: Float32Array.of(1, 2, 4) },
    { target: Float32Array.of(1, 2, 3, 4) },
    { target: Float64Array.of(1, 2, 3) },
    { target: undefined as never },
    { start: Float32Array.of(1, 2, 3) },
    { kinematic: Uint8Array.of(0) },
    { masses: Float32Array.of(1) },
    { override: {} },
    { override: { damping: 0.6 } },
    { include: { contacts: true, contactDistance: 1 } },
    { include: { contacts: true, vertices: true } },
    { partTargets: [{ part: 'a', target: Float32Array.of(1) }] },
  ];
  for (const change of other) t.notOk(isSamePayload(base, { ...base, ...change }), JSON.stringify(change));
});

t.test('the sign of a zero is part of a payload', async (t) => {
  const [a, b] = [0, -0].map((value) => ({ ...base, target: Float32Array.of(value) }));
  t.notOk(isSamePayload(a!, b!));
});

t.test('two creations are compared by parameters, label and idle timeout', async (t) => {
  const opening = { mesh: { vertexCount: 1 }, start: new Float32Array(3), parameters: { damping: 0.5 } };
  t.ok(isSameCreation(opening, { ...opening, label: '' }));
  t.notOk(isSameCreation(opening, { ...opening, label: 'x' }));
  t.notOk(isSameCreation(opening, { ...opening, idleTimeoutSeconds: 5 }));
  t.notOk(isSameCreation(opening, { ...opening, parameters: {} }));
});

t.test('a copy holds its own elements and nothing else', async (t) => {
  const body = Buffer.alloc(1000, 1);
  const view = new Uint8Array(body.buffer, body.byteOffset, 4);
  const copy = ownCopy({ view, again: view, list: [{ deep: view }], text: 'x', none: undefined, big: 1n });
  t.equal(copy.view, copy.again, 'one array stays one array');
  t.equal(copy.view, copy.list[0]!.deep);
  t.equal(copy.view.buffer.byteLength, 4);
  view[0] = 9;
  t.equal(copy.view[0], 1);
  t.match(copy, { text: 'x', big: 1n });
  t.equal(ownCopy({ b: Buffer.from([1, 2]) }).b.buffer.byteLength, 2, 'a Buffer too is copied out of its pool');
});

t.test('an array that was handed over is kept, unless it would retain much more memory than its own', async (t) => {
  const body = new ArrayBuffer(1000);
  const [most, some] = [new Float32Array(body, 40, 240), new Float32Array(body, 40, 200)];
  const kept = ownCopy({ most, list: [{ most }] }, true);
  t.equal(kept.most, most);
  t.equal(kept.list[0]!.most, most);
  const copy = ownCopy({ some }, true).some;
  t.equal(copy.buffer.byteLength, 800);
  t.equal(ownCopy({ b: Buffer.from([1, 2]) }, true).b.buffer.byteLength, 2, 'Node’s pool belongs to others too');
  t.not(ownCopy({ most }).most, most, 'nothing is kept unless it was handed over');
});

t.test('the key of a job stands for its content, whatever its transport and time budget', async (t) => {
  const positions = Float32Array.of(1, 2, 3);
  const untangle = (kinematic: Uint8Array, others = {}): SubmitJobRequest => ({
    untangle: { mesh: { vertexCount: 1, kinematic }, positions, parameters: {}, ...others },
  });
  const step = (others: Partial<StepRequest> = {}): SubmitJobRequest => ({ step: { ...base, ...others } });
  const same: [SubmitJobRequest, SubmitJobRequest][] = [
    [untangle(Uint8Array.of(1)), untangle(Buffer.from([1]))],
    [untangle(Uint8Array.of(1)), untangle(Uint8Array.of(1), { timeBudgetSeconds: 1, priority: 'BATCH' })],
    [step(), step({ kinematic: Buffer.from([1]), partTargets: [], timeBudgetSeconds: 1, priority: 'BATCH' })],
    [step(), { ...step(), label: '', idempotencyKey: 'k' }],
  ];
  for (const [n, [a, b]] of same.entries()) t.equal(digestOfJob(a), digestOfJob(b), `same ${n}`);
  const resolve = { mesh: { vertexCount: 1 }, start: positions, target: positions, parameters: {} };
  const digests = [
    untangle(Uint8Array.of(1)),
    untangle(Uint8Array.of(0)),
    untangle(Uint8Array.of(1), { turned: [0] }),
    step(),
    step({ sessionId: 'b' }),
    step({ frame: 2n }),
    step({ afterFrame: 2n }),
    step({ onBudget: 'FAIL' }),
    { ...step(), label: 'cape' },
    { ...step(), keepForSeconds: 5 },
    { resolve },
    { resolve: { ...resolve, parameters: { stepLimit: 3 } } },
    { resolve: { ...resolve, include: { path: true } } },
    { resolve: { ...resolve, mesh: { vertexCount: 1, masses: Float32Array.of(2) } } },
  ].map((request) => digestOfJob(request as SubmitJobRequest));
  t.equal(new Set(digests).size, digests.length, 'each of these is another payload');
});
