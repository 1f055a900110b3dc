import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import type { UntangleRequest } from '../../src/contract/untangle.js';
import { openEngine } from '../../src/jobs/engines.js';
import { untangleJob } from '../../src/jobs/untangle-job.js';
import { exactVerifier } from '../../src/jobs/verifier.js';
import { buildMesh } from '../../src/mesh/build.js';
import { findIntersections } from '../../src/verify/state.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { seeded } from '../support/random.js';
import { dent, RULES } from '../untangle/dent.js';

const { mesh, positions } = dent(seeded(7), 1.2);

async function untangle(request: Partial<UntangleRequest> = {}) {
  return untangleJob(
    { request: { mesh, positions, parameters: {}, ...request }, receivedAt: 0, queuedAt: 0 },
    {
      engine: await openEngine({ engine: 'cpu' }),
      limits: LIMITS,
      allowUnverified: false,
      verifier: exactVerifier,
      now: () => 0,
      isCancelled: () => false,
      onFinding: ({ message }) => t.fail(message),
    },
  );
}

t.test(
  'coordinates that no resolve takes are refused, and of others every number of the report is finite',
  async (t) => {
    const inUnit = (unit: number) => untangle({ positions: positions.map((x) => x * unit) });
    for (const unit of [1e31, 1e40, 1e110]) {
      const refusal = await refusalOf(inUnit(unit));
      t.match(refusal, { code: 'COORDINATE_RANGE', message: / of positions is .* the limit is 1e\+30/ });
    }
    for (const unit of [1e-120, 1e-30, 1e28]) {
      const { report } = await inUnit(unit);
      t.equal(report.status, 'FREE');
      t.ok(report.contours.length > 0);
      for (const { confidence, points } of report.contours) {
        t.ok(confidence >= 0.5 && confidence <= 1, `${unit}: ${confidence}`);
        t.ok(points.every(Number.isFinite));
      }
    }
  },
);

t.test(
  'a ground plane may be as large as that of a resolve: in an untangling whatever is kinematic rests',
  async (t) => {
    const { vertexCount, triangles } = mesh;
    const [n, size] = [vertexCount, 1e5];
    const ground = {
      vertexCount: n + 3,
      triangles: Uint32Array.of(...triangles!, n, n + 1, n + 2),
      kinematic: Uint8Array.from({ length: n + 3 }, (_, v) => (v < n ? 0 : 1)),
    };
    for (const Scalar of [Float64Array, Float32Array]) {
      const start = Scalar.of(...positions, -size, -size, -5, size, -size, -5, 0, size, -5);
      const { report, positions: answer } = await untangle({ mesh: ground, positions: start });
      t.equal(report.status, 'FREE');
      t.equal(findIntersections(buildMesh(ground), answer, RULES).intersectionCount, 0);
      t.same(answer.subarray(3 * n), start.subarray(3 * n));
    }
  },
);

t.test('a warning names what an untangling does not read: method, verify, onIntersectingStart', async (t) => {
  const told = async (parameters: ParametersInput) => {
    const { report, positions } = await untangle({ parameters });
    const { seconds: _, warnings, ...others } = report;
    return { others, positions, messages: warnings.map(({ code, message }) => `${code}: ${message}`) };
  };
  const unread: readonly [ParametersInput, RegExp][] = [
    [{ method: 'VOLUME_IMPULSES' }, /^PARAMETER_WITHOUT_EFFECT: method VOLUME_IMPULSES has no effect/],
    [{ verify: 'PATH' }, /^PARAMETER_WITHOUT_EFFECT: verify PATH has no effect: .* the test of STATE/],
    [
      { onIntersectingStart: 'IGNORE_PAIRS' },
      /^PARAMETER_WITHOUT_EFFECT: onIntersectingStart IGNORE_PAIRS has no effect/,
    ],
  ];
  for (const parameters of [{}, { stretchLimit: 1.05 }]) {
    const plain = await told({ method: 'TWO_WAY', verify: 'STATE', onIntersectingStart: 'REJECT', ...parameters });
    t.same(plain.messages, []);
    for (const [set, message] of unread) {
      const other = await told({ ...parameters, ...set });
      t.match(other.messages, [message]);
      t.equal(other.messages.length, 1);
      t.same([other.positions, other.others], [plain.positions, plain.others]);
    }
  }
});
