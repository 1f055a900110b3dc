import t from 'tap';
import type { IntersticeError } from '../../src/contract/errors.js';
import type { PartInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { AIM_GROWTH } from '../../src/solver/constants.js';
import { aimOf } from '../../src/solver/cpu/contact-aims.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { PairSet } from '../../src/solver/cpu/pair-set.js';
import { checkPartOffsets, contactRangeOf, offsetsByVertex } from '../../src/solver/part-offsets.js';
import { runJob } from '../support/job.js';
import { PLAN as PULL_BACK } from '../support/pull-back-bench.js';
import { makeSettings } from '../support/settings.js';

type Lengths = Pick<PartInput, 'activationDistance' | 'contactOffset'>;

/** A triangle for each part. */
const meshOf = (...lengths: Lengths[]) => {
  const parts: PartInput[] = lengths.map((own, k) => ({
    name: `part ${k}`,
    firstVertex: 3 * k,
    vertexCount: 3,
    ...own,
  }));
  const triangles = Uint32Array.from({ length: 3 * parts.length }, (_, k) => k);
  return buildMesh({ vertexCount: 3 * parts.length, triangles, parts });
};

const settings = makeSettings({ delta: 0.5, scale: 4, pullBack: PULL_BACK });

t.test(
  'offsets are given by vertex in engine units; a part without one takes the same share of its own δ',
  async (t) => {
    const mesh = meshOf({ contactOffset: 0.0625 }, { activationDistance: 0.25 }, {});
    t.same(offsetsByVertex(mesh, settings), Float32Array.of(0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125));
    t.equal(offsetsByVertex(meshOf({ activationDistance: 0.25 }, {}), settings), undefined, 'no part has one');
    t.equal(offsetsByVertex(mesh, makeSettings()), undefined, 'FAST aims at none');
  },
);

t.test('an aim is the offset, or a little more than the distance at the start', async (t) => {
  const aims = { offsets: new Float32Array(0), offsetShare: 0.5 };
  const aimAt = (d0: number, offsetShare = 0.5): number => {
    const pairs = new PairSet();
    pairs.push(0, 0, 1, 2, 3, 0, 0, 0);
    const start = Float32Array.of(0.2, d0, 0.2, 0, 0, 0, 1, 0, 0, 0, 0, 1);
    return aimOf(pairs, 0, 0.25, start, { ...aims, offsetShare });
  };
  const isAbout = (a: number, b: number): boolean => Math.abs(a - b) < 1e-7;
  t.ok(isAbout(aimAt(1), 0.125));
  t.ok(isAbout(aimAt(0.125), 0.125), 'what is there is not given up');
  t.ok(isAbout(aimAt(0.12), 0.125));
  t.ok(isAbout(aimAt(0.05), 0.05 + AIM_GROWTH * 0.25));
  t.ok(isAbout(aimAt(0.001), 0.001 + AIM_GROWTH * 0.25), 'tiny gaps are not opened at once');
  t.equal(aimAt(0.05, 0), 0);
});

t.test('pairs are contacts within δ, and from farther on where an offset is large', async (t) => {
  const rangeAt = (offset: number, ...lengths: Lengths[]): number =>
    contactRangeOf(meshOf(...lengths), makeSettings({ delta: 0.5, scale: 4, pullBack: { ...PULL_BACK, offset } }));
  t.equal(rangeAt(0.125, {}), 1);
  t.equal(rangeAt(0.5, {}), 1);
  t.equal(rangeAt(1, {}), 1.5);
  // Of its own δ, which is 1 in engine units.
  t.equal(rangeAt(0.125, {}, { activationDistance: 0.25, contactOffset: 0.1875 }), 1.25, 'a part decides');
  t.equal(contactRangeOf(meshOf({}), makeSettings()), 1, 'FAST aims at none');
});

t.test('invalid offsets are refused with the path of the field', async (t) => {
  const refusal = (work: () => unknown): Partial<IntersticeError> => {
    try {
      work();
    } catch (error) {
      return error as IntersticeError;
    }
    throw new Error('accepted');
  };
  const parameters = { activationDistance: 0.1, quality: 'BALANCED' } as const;
  for (const contactOffset of [-1e-9, 0.11, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.match(
      refusal(() => checkPartOffsets(meshOf({}, { contactOffset }), parameters)),
      {
        code: 'INVALID_PARAMETER',
        message: /^mesh\.parts\[1\]\.contactOffset is/,
        element: { kind: 'part', index: 1 },
      },
    );
  }
  const own = meshOf({ activationDistance: 0.3, contactOffset: 0.3 }, { contactOffset: 0 });
  t.same(checkPartOffsets(own, parameters), undefined, 'up to the δ of the part');
  const description = { name: 'plain', adapter: '', software: true, maxBufferBytes: 0 };
  t.match(
    refusal(() => checkPartOffsets(own, parameters, { description })),
    {
      code: 'UNIMPLEMENTED',
      message: /The engine plain does not support contact offsets of parts, but part "part 0" has one/,
    },
  );
  t.same(checkPartOffsets(own, { ...parameters, quality: 'FAST' }, { description }), undefined, 'FAST reads none');
  t.same(checkPartOffsets(own, parameters, { description, hasPartOffsets: true }), undefined);
});

t.test('a sheet with a target beyond a floor rests at the offset of the two parts', async (t) => {
  const delta = 0.1;
  const square = (z: number) => [-1, -1, z, 1, -1, z, 1, 1, z, -1, 1, z];
  const faces = [0, 1, 2, 0, 2, 3];
  const gapOf = async (floor: number | undefined, sheet: number | undefined): Promise<number> => {
    const own = (contactOffset: number | undefined) => (contactOffset === undefined ? {} : { contactOffset });
    const { answer } = await runJob(
      {
        mesh: {
          vertexCount: 8,
          triangles: Uint32Array.from([...faces, ...faces.map((v) => v + 4)]),
          parts: [
            { name: 'floor', firstVertex: 0, vertexCount: 4, kinematic: true, ...own(floor) },
            { name: 'sheet', firstVertex: 4, vertexCount: 4, ...own(sheet) },
          ],
        },
        // The sheet is smaller than the floor, and nearer than δ: its contacts begin with the first step.
        start: Float64Array.from([...square(0), ...square(0.095).map((x, i) => (i % 3 === 2 ? x : x / 2))]),
        target: Float64Array.from([...square(0), ...square(-0.5).map((x, i) => (i % 3 === 2 ? x : x / 2))]),
        parameters: { activationDistance: delta, quality: 'BALANCED' },
      },
      createCpuEngine(),
    );
    t.equal(answer.report.status, 'CONVERGED');
    return answer.report.minDistance!;
  };
  // A motion shorter than 0.02 δ is not made.
  const isAbout = (gap: number, offset: number) => Math.abs(gap - offset) <= 0.03 * delta;
  for (const [floor, sheet, offset] of [
    [undefined, undefined, 0.0125],
    [0.08, 0.08, 0.08],
    [0.1, undefined, 0.05625],
    [0.04, 0.08, 0.06],
  ] as const) {
    const gap = await gapOf(floor, sheet);
    t.ok(isAbout(gap, offset), `${floor} and ${sheet}: gap ${gap}, offset ${offset}`);
  }
  const least = await gapOf(0, 0);
  t.ok(least > 0 && least < 0.02, `0 and 0: gap ${least}, what safety leaves`);
});
