import t from 'tap';
import type { IntersticeError } from '../../src/contract/errors.js';
import type { PartInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { checkPartOffsets, offsetShareOf, offsetsByVertex } from '../../src/solver/part-offsets.js';
import { runJob } from '../support/job.js';
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

/** Vertex 0 of the first part and the triangle of the second. */
const PAIR = { kind: Uint8Array.of(0), vertex: Int32Array.of(0, 3, 4, 5) };
const PULL_BACK = { sweeps: 32, tau: 0.2, minGain: 0.03, offset: 0.25 };
const settings = makeSettings({ delta: 0.5, scale: 4, pullBack: PULL_BACK });

t.test('by vertex, in engine units; a part without an offset takes the same share of its own δ', async (t) => {
  const mesh = meshOf({ contactOffset: 0.0625 }, { activationDistance: 0.25 }, {});
  t.same(offsetsByVertex(mesh, settings), Float32Array.of(0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125));
  t.equal(offsetsByVertex(meshOf({ activationDistance: 0.25 }, {}), settings), undefined, 'no part has one');
  t.equal(offsetsByVertex(mesh, makeSettings()), undefined, 'FAST aims at none');
});

t.test('a pair aims at the mean of both sides, as its δ is their mean', async (t) => {
  const shareOf = (...lengths: Lengths[]) => offsetShareOf(meshOf(...lengths), settings)(PAIR, 0);
  t.equal(shareOf({}, {}), 0.25);
  t.equal(shareOf({ activationDistance: 0.25 }, {}), 0.25, 'the share of both parts is that of the parameters');
  t.equal(shareOf({ contactOffset: 0.125 }, {}), (0.5 + 0.125) / 2 / 0.5);
  t.equal(shareOf({ contactOffset: 0 }, { contactOffset: 0 }), 0);
  t.equal(shareOf({ activationDistance: 0.25, contactOffset: 0.25 }, {}), (1 + 0.125) / 2 / ((1 + 0.5) / 2));
  t.equal(shareOf({ contactOffset: 0.125 }, { contactOffset: 0.125 }), 1);
});

t.test('what does not fit is refused by its path', async (t) => {
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
    { code: 'UNIMPLEMENTED', message: /The engine plain has no contact offsets of parts, and part "part 0" has one/ },
  );
  t.same(checkPartOffsets(own, { ...parameters, quality: 'FAST' }, { description }), undefined, 'FAST reads none');
  t.same(checkPartOffsets(own, parameters, { description, hasPartOffsets: true }), undefined);
});

t.test('a sheet that is sent through a floor rests at the offset of the two parts', async (t) => {
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
    [undefined, undefined, 0.025],
    [0.08, 0.08, 0.08],
    [0.1, undefined, 0.0625],
    [0.04, 0.08, 0.06],
  ] as const) {
    const gap = await gapOf(floor, sheet);
    t.ok(isAbout(gap, offset), `${floor} and ${sheet}: gap ${gap}, offset ${offset}`);
  }
  const least = await gapOf(0, 0);
  t.ok(least > 0 && least < 0.02, `0 and 0: gap ${least}, what safety leaves`);
});
