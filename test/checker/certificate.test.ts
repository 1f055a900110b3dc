import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { findMeeting } from '../../bench/prove/judge/moving-pair.js';
import { pointsOf } from '../../bench/prove/judge/nearest.js';
import { findCollisions } from '../../bench/prove/judge/path-judge.js';
import { findMeetings } from '../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../bench/prove/judge/surface.js';
import { writeCertificate } from '../../src/cli/certificate.js';
import type { MeshInput, Positions } from '../../src/contract/mesh.js';
import type { Path } from '../../src/contract/path.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import { projectRoot } from '../../src/paths.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob, spike } from '../support/job.js';
import { type Random, seeded } from '../support/random.js';
import { pairOnOneLine, parallelPair, type TurningPair } from '../support/turning-pairs.js';

interface Verdict {
  readonly isConfirmed: boolean;
  readonly uncoveredVertices: number;
  readonly problems: readonly string[];
  readonly problemCount: number;
  readonly states: number;
  readonly sha256: string;
}

interface Checker {
  checkCertificate(bytes: Uint8Array, options?: { onProgress?: (done: number, all: number) => void }): Promise<Verdict>;
  sha256(bytes: Uint8Array): string;
  orientation(x: ArrayLike<number>, a: number, b: number, c: number, d: number): number;
  provesApart(start: ArrayLike<number>, end: ArrayLike<number>, a: readonly number[], b: readonly number[]): boolean;
}

const { checkCertificate, sha256, orientation, provesApart } = (await import(
  pathToFileURL(join(projectRoot, 'checker/certificate.mjs')).href
)) as Checker;

const bytesOf = (request: ResolveRequest, answer: ResolveAnswer, path: Path): Uint8Array =>
  Buffer.concat([...writeCertificate(request, answer, path)]);

const stateOf = ({ positions, phases }: Path, n: number): Positions => {
  const length = positions.length / phases.length;
  return positions.slice(n * length, (n + 1) * length);
};

/** A spike that a triangle stops, and the certificate of its answer. */
async function example() {
  const request: ResolveRequest = { ...spike(1, 1.5), include: { path: true } };
  const { answer } = await runJob(request, createCpuEngine());
  const path = answer.path!;
  /** The same with other states; hashes, start and answer fit them. */
  const withStates = (states: readonly Positions[], answered: Positions = states.at(-1)!): Uint8Array => {
    const positions = new Float32Array(states.flatMap((state) => [...state]));
    const changed = {
      phases: new Uint8Array(states.length).fill(5),
      steps: Uint32Array.from(states, (_, n) => n),
      positions,
    };
    return bytesOf({ ...request, start: states[0]! }, { ...answer, positions: answered }, changed);
  };
  const states = Array.from(path.phases, (_, n) => stateOf(path, n));
  return { request, answer, path, states, withStates };
}

const shifted = (state: Positions, by: number): Positions => state.map((x, i) => (i >= 9 && i % 3 === 2 ? x + by : x));

t.test('a certificate is confirmed, and says what it is', async (t) => {
  const { request, answer, path } = await example();
  const bytes = bytesOf(request, answer, path);
  const heard: [number, number][] = [];
  const verdict = await checkCertificate(bytes, { onProgress: (done, all) => heard.push([done, all]) });
  t.same(verdict.problems, []);
  t.ok(verdict.isConfirmed);
  t.equal(verdict.states, path.phases.length);
  t.equal(verdict.sha256, createHash('sha256').update(bytes).digest('hex'));
  t.same(heard.at(-1), [path.phases.length, path.phases.length]);
});

t.test('a certificate that was changed is refused', async (t) => {
  const { request, answer, path, states, withStates } = await example();
  const bytes = bytesOf(request, answer, path);
  const refusal = async (changed: Uint8Array) => {
    const verdict = await checkCertificate(changed);
    t.notOk(verdict.isConfirmed);
    return verdict.problems.join('\n');
  };
  const flipped = bytes.slice();
  flipped[flipped.length - 5]! ^= 1;
  t.match(await refusal(flipped), /The array states was changed/);
  t.match(await refusal(bytes.subarray(0, bytes.length - 64)), /ends within the array/);
  t.match(await refusal(bytes.subarray(1)), /no certificate/);
  t.match(await refusal(bytes.subarray(0, 40)), /ends within its header/);

  t.ok((await checkCertificate(withStates(states))).isConfirmed, 'the way in which the rest is planted');
  const foreign = bytesOf({ ...request, start: shifted(states[0]!, 0.5) }, answer, path);
  t.match(await refusal(foreign), /The first state is not the start/);
  t.match(await refusal(withStates(states, shifted(states.at(-1)!, 0.5))), /The last state is not the answer/);
  const broken = withStates([states[0]!, states[1]!.map((x, i) => (i === 4 ? Number.NaN : x))]);
  t.match(await refusal(broken), /not finite/);
});

t.test('planted faults under correct hashes are found', async (t) => {
  const { states, withStates } = await example();
  const start = states[0]!;
  // The tip goes through the triangle and stays there, the rest above it.
  const pierced = start.map((x, i) => (i === 11 ? -0.5 : x));
  const stuck = await checkCertificate(withStates([start, pierced]));
  t.match(stuck.problems.join('\n'), /State 1: edge \d-\d passes through triangle/);
  const there = await checkCertificate(withStates([start, pierced, start]));
  t.notOk(there.isConfirmed, 'a state in between intersects');
  // The whole spike jumps below: neither state intersects, and what is between them does.
  const below = shifted(start, -4);
  const tunnelled = await checkCertificate(withStates([start, below]));
  t.notOk(tunnelled.isConfirmed);
  t.notMatch(tunnelled.problems.join('\n'), /passes through/, 'no state shows it');
  t.match(tunnelled.problems.join('\n'), /Piece 0, from state 0 to state 1/);
  // There and back again, so that first and last state are the same.
  t.notOk((await checkCertificate(withStates([start, below, start]))).isConfirmed);
  // A touch is no free state.
  const touching = start.map((x, i) => (i === 11 ? 0 : x));
  t.notOk((await checkCertificate(withStates([touching]))).isConfirmed);
});

t.test('kinematic elements may pass through each other unless the certificate covers them', async (t) => {
  const { request, answer, states } = await example();
  const kinematic = new Uint8Array(6).fill(1);
  const path = { phases: Uint8Array.of(1, 5), steps: Uint32Array.of(0, 1), positions: new Float32Array(36) };
  path.positions.set(states[0]!);
  path.positions.set(shifted(states[0]!, -4), 18);
  const moved = { ...answer, positions: stateOf(path, 1) };
  const all: ResolveRequest = { ...request, mesh: { ...request.mesh, kinematic } };
  const skipping = await checkCertificate(bytesOf(all, moved, path));
  t.ok(skipping.isConfirmed);
  t.equal(skipping.uncoveredVertices, 6, 'the verdict says what it leaves out');
  const { report } = moved;
  const strict = {
    ...moved,
    report: { ...report, resolved: { ...report.resolved, kinematicPairs: 'PROTECT' as const } },
  };
  const covering = await checkCertificate(bytesOf(all, strict, path));
  t.notOk(covering.isConfirmed);
  t.equal(covering.uncoveredVertices, 0);
  const half = { ...all, mesh: { ...all.mesh, kinematic: Uint8Array.of(1, 1, 1, 0, 1, 1) } };
  t.notOk((await checkCertificate(bytesOf(half, moved, path))).isConfirmed, 'one vertex of them is dynamic');
});

t.test('SHA-256 agrees with the standard', async (t) => {
  for (const size of [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 1000, 100_001]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 37 + 11) & 255);
    t.equal(sha256(bytes), createHash('sha256').update(bytes).digest('hex'), `${size} bytes`);
  }
});

t.test('the sign of a volume is exact', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let n = 0; n < 2000; n++) {
    // Small whole numbers, many of them in one plane, scaled and with one of them moved by the last bit.
    const whole = Array.from({ length: 12 }, () => random.int(4));
    const scale = 2 ** (random.int(61) - 30);
    const x = Float64Array.from(whole, (w) => w * scale);
    const [b, c, d] = [1, 2, 3].map((v) => [0, 1, 2].map((k) => BigInt(whole[3 * v + k]! - whole[k]!)));
    const volume =
      d![0]! * (b![1]! * c![2]! - b![2]! * c![1]!) +
      d![1]! * (b![2]! * c![0]! - b![0]! * c![2]!) +
      d![2]! * (b![0]! * c![1]! - b![1]! * c![0]!);
    const expected = volume > 0n ? 1 : volume < 0n ? -1 : 0;
    if (orientation(x, 0, 1, 2, 3) !== expected) t.fail(`${whole} has the sign ${expected}`);
  }
  // A tenth is no sum of powers of two: three points of a plane, and one a bit above it.
  const plane = [0.1, 0.1, 0.1, 1.1, 0.1, 0.1, 0.1, 1.1, 0.1];
  t.equal(orientation([...plane, 0.7, 0.3, 0.1], 0, 1, 2, 3), 0);
  t.equal(orientation([...plane, 0.7, 0.3, 0.1 + 2 ** -56], 0, 1, 2, 3), 1);
  t.equal(orientation([...plane, 0.7, 0.3, 0.1 - 2 ** -56], 0, 1, 2, 3), -1);
});

t.test('products that over- or underflow mislead neither the sign of a volume nor the proof of a piece', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const count = 4000;
  let wrongSigns = 0;
  let proved = 0;
  for (let n = 0; n < count; n++) {
    // Whole numbers, each axis times a power of two of its own: the sign of a volume does not depend on these.
    const scale = [0, 1, 2].map(() => 2 ** (random.int(1901) - 950));
    const whole = Array.from({ length: 12 }, () => random.int(9) - 4);
    const scaled = (numbers: readonly number[]) => Float64Array.from(numbers, (w, k) => w * scale[k % 3]!);
    const small = orientation(whole, 0, 1, 2, 3);
    if (orientation(scaled(whole), 0, 1, 2, 3) !== small) wrongSigns++;
    // Halfway on the piece the vertex lies in the triangle.
    const at = [0, 1, 2].map((c) => (whole[3 + c]! + whole[6 + c]! + 2 * whole[9 + c]!) / 4);
    const motion = [0, 1, 2].map(() => random.int(9) - 4);
    const end = (way: number) => [...at.map((x, c) => x + way * motion[c]!), ...whole.slice(3)];
    if (provesApart(scaled(end(-1)), scaled(end(1)), [0], [1, 2, 3])) proved++;
  }
  t.equal(wrongSigns, 0);
  t.equal(proved, 0);
});

const SHAPES = [
  [1, 3],
  [2, 2],
  [1, 2],
  [1, 1],
] as const;

t.test('pairs on random pieces: the proof agrees with the judge of the campaign', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  let apart = 0;
  let differ = 0;
  const count = 4000;
  for (let n = 0; n < count; n++) {
    const [sizeA, sizeB] = SHAPES[n % 4]!;
    const points = sizeA + sizeB;
    const reach = 10 ** random.between(-3, 0.5);
    const start = Float32Array.from({ length: 3 * points }, () => random.between(-1, 1));
    const end = start.map((x) => x + random.between(-reach, reach));
    const a = Array.from({ length: sizeA }, (_, i) => i);
    const b = Array.from({ length: sizeB }, (_, i) => sizeA + i);
    const proved = provesApart(start, end, a, b);
    const judged = findMeeting(pointsOf(start, [...a, ...b]), pointsOf(end, [...a, ...b]), sizeA) === undefined;
    if (proved) apart++;
    // Both may give up where a pair comes within rounding of a touch, which random pairs do not.
    if (proved !== judged) differ++;
  }
  t.equal(differ, 0);
  t.ok(apart > count / 4 && apart < count, `${apart} of ${count} never meet`);
});

t.test(
  'pairs that turn side by side, and pairs on one line that turns: the proof and the judge know them apart',
  async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const isApart = ({ kind, start, end }: TurningPair) => {
      const [a, b] =
        kind === 'EDGE_EDGE'
          ? [
              [0, 1],
              [2, 3],
            ]
          : [[0], [1, 2]];
      const meeting = findMeeting(pointsOf(start, [...a, ...b]), pointsOf(end, [...a, ...b]), a.length);
      return { proved: provesApart(start, end, a, b), judged: meeting === undefined };
    };
    const all = { apart: { proved: 0, judged: 0 }, touching: { proved: 0, judged: 0 } };
    const count = 400;
    for (let n = 0; n < count; n++) {
      const kind = n % 2 === 0 ? 'EDGE_EDGE' : 'VERTEX_EDGE';
      const apart = isApart(parallelPair(random, kind, 10 ** random.between(-9, -2)));
      const touching = isApart(pairOnOneLine(random, n));
      for (const by of ['proved', 'judged'] as const) {
        if (apart[by]) all.apart[by]++;
        if (touching[by]) all.touching[by]++;
      }
    }
    t.strictSame(all, { apart: { proved: count, judged: count }, touching: { proved: 0, judged: 0 } });
  },
);

/** Loose triangles, rods and particles, some of them kinematic. */
function looseElements(random: Random): { mesh: MeshInput; start: Float32Array } {
  const [triangles, rods, particles] = [3 + random.int(4), random.int(3), random.int(3)];
  const vertexCount = 3 * triangles + 2 * rods + particles;
  const ids = Uint32Array.from({ length: vertexCount }, (_, v) => v);
  const start = new Float32Array(3 * vertexCount);
  const owner = (v: number) =>
    v < 3 * triangles ? Math.floor(v / 3) : triangles + Math.floor((v - 3 * triangles) / 2);
  const centres = Array.from({ length: vertexCount }, () => [0, 1, 2].map(() => random.between(-1, 1)));
  for (let v = 0; v < vertexCount; v++) {
    for (let c = 0; c < 3; c++) start[3 * v + c] = centres[owner(v)]![c]! + random.between(-0.5, 0.5);
  }
  const isKinematic = Array.from({ length: vertexCount }, () => random() < 0.3);
  return {
    mesh: {
      vertexCount,
      triangles: ids.slice(0, 3 * triangles),
      segments: ids.slice(3 * triangles, 3 * triangles + 2 * rods),
      particles: ids.slice(3 * triangles + 2 * rods),
      kinematic: Uint8Array.from(ids, (v) => (isKinematic[owner(v)] ? 1 : 0)),
    },
    start,
  };
}

t.test('whole certificates of random paths: the verdict is that of the judge', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const { answer } = await example();
  const rules = { kinematicPairs: 'SKIP' } as const;
  const verdicts = { free: 0, not: 0 };
  for (let n = 0; n < 150; n++) {
    const { mesh, start } = looseElements(random);
    const reach = 10 ** random.between(-2, 0);
    const states = [start];
    while (states.length < 3) states.push(states.at(-1)!.map((x) => x + random.between(-reach, reach)));
    const path = {
      phases: new Uint8Array(3).fill(5),
      steps: Uint32Array.of(0, 1, 2),
      positions: new Float32Array(states.flatMap((state) => [...state])),
    };
    const request: ResolveRequest = { mesh, start, target: states[2]!, parameters: {} };
    const verdict = await checkCertificate(bytesOf(request, { ...answer, positions: states[2]! }, path));
    const surface = readSurface(mesh);
    const isFree =
      states.every((x) => findMeetings(surface, x, rules).length === 0) &&
      findCollisions(surface, states[0]!, states[1]!, rules).length === 0 &&
      findCollisions(surface, states[1]!, states[2]!, rules).length === 0;
    verdicts[isFree ? 'free' : 'not']++;
    if (verdict.isConfirmed !== isFree) t.fail(`case ${n}: ${isFree ? 'free' : 'not free'}, but ${verdict.problems}`);
  }
  t.comment(JSON.stringify(verdicts));
  t.ok(verdicts.free > 10 && verdicts.not > 10, `${JSON.stringify(verdicts)}: both kinds occur`);
});
