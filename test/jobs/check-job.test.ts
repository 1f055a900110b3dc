import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { CheckRequest } from '../../src/contract/requests.js';
import { checkJob } from '../../src/jobs/check-job.js';
import { exactVerifier } from '../../src/jobs/verifier.js';
import { LIMITS, spike } from '../support/job.js';

function check(height: number, more: Partial<CheckRequest> = {}) {
  const { mesh, start } = spike(height, 0);
  return checkJob(
    { mesh, positions: start, ...more },
    { limits: LIMITS, verifier: exactVerifier, isCancelled: () => false },
  );
}

t.test('a free state has no intersections', async (t) => {
  t.same(check(0.5), {
    intersectionFree: true,
    intersectionCount: 0,
    intersections: [],
    kinematicIntersectionCount: 0,
    closePairs: [],
  });
});

t.test('an intersecting state is counted completely and listed up to maxPairs', async (t) => {
  const all = check(-0.1);
  t.match(all, { intersectionFree: false, intersectionCount: 2 });
  t.equal(all.intersections.length, 2);
  const one = check(-0.1, { maxPairs: 1 });
  t.equal(one.intersectionCount, 2);
  t.equal(one.intersections.length, 1);
  t.equal(check(-0.1, { maxPairs: 0 }).intersections.length, 0);
});

t.test('kinematic pairs are counted separately, and tested when protected', async (t) => {
  const mesh = { ...spike(0, 0).mesh, kinematic: new Uint8Array(6).fill(1) };
  t.match(check(-0.1, { mesh }), { intersectionFree: true, kinematicIntersectionCount: 2 });
  t.match(check(-0.1, { mesh, kinematicPairs: 'PROTECT' }), { intersectionFree: false, intersectionCount: 2 });
});

t.test('distances are measured on request', async (t) => {
  const near = check(0.25, { reportPairsCloserThan: 0.3 });
  t.equal(near.minDistance, 0.25);
  t.ok(near.closePairs.length > 0);
  t.equal(near.closePairs[0]?.distance, 0.25);
  const none = check(0.25, { reportPairsCloserThan: 0.2 });
  t.notOk('minDistance' in none);
  t.same(none.closePairs, []);
});

t.test('the path is tested if it has an end', async (t) => {
  t.notOk('pathFree' in check(0.5));
  const through = check(0.5, { pathEnd: spike(-1.5, 0).start });
  t.match(through, { intersectionFree: true, pathFree: false });
  t.ok((through.earliestImpact ?? 1) <= 0.25 && (through.earliestImpact ?? 0) > 0.2, `${through.earliestImpact}`);
  const free = check(0.5, { pathEnd: spike(0.25, 0).start });
  t.equal(free.pathFree, true);
  t.notOk('earliestImpact' in free);
});

t.test(
  'a path that is pierced from its start to its end is not free, although no pair begins to intersect on it',
  async (t) => {
    const pierced = check(-0.1, { pathEnd: spike(-0.1, 0).start });
    t.match(pierced, { intersectionFree: false, pathFree: false, earliestImpact: 0 });
  },
);

t.test('the longest lists that can be asked for are bounded, and counts are not', async (t) => {
  // Every particle is near every other one: 400² / 2 pairs.
  const vertexCount = 400;
  const particles = Uint32Array.from({ length: vertexCount }, (_, i) => i);
  const positions = Float32Array.from({ length: 3 * vertexCount }, (_, i) => ((i * 7919) % 1201) / 1201);
  const near = { mesh: { vertexCount, particles }, positions, reportPairsCloserThan: 4 };
  t.equal(check(0, { ...near, maxPairs: 65_536 }).closePairs.length, 65_536);
  t.match(check(-0.1, { maxPairs: 65_536 }), { intersectionCount: check(-0.1, { maxPairs: 0 }).intersectionCount });
});

t.test('an invalid check is refused with its code', async (t) => {
  const cases: [string, Partial<CheckRequest>][] = [
    ['INVALID_PARAMETER', { maxPairs: -1 }],
    ['INVALID_PARAMETER', { maxPairs: 1.5 }],
    ['INVALID_PARAMETER', { maxPairs: 65_537 }],
    ['INVALID_PARAMETER', { reportPairsCloserThan: 0 }],
    ['INVALID_PARAMETER', { reportPairsCloserThan: Number.NaN }],
    ['SIZE_MISMATCH', { positions: new Float32Array(3) }],
    ['SIZE_MISMATCH', { pathEnd: new Float32Array(3) }],
    ['NOT_FINITE', { pathEnd: new Float32Array(18).fill(Infinity) }],
    ['COORDINATE_RANGE', { pathEnd: new Float32Array(18).fill(1e20) }],
    ['INVALID_MESH', { mesh: { vertexCount: 6 } }],
  ];
  for (const [code, change] of cases) {
    try {
      check(0.5, change);
      t.fail(`${code}: accepted`);
    } catch (error) {
      t.equal(error instanceof IntersticeError && error.code, code);
    }
  }
});
