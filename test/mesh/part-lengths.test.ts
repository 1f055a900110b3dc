import t from 'tap';
import type { MeshInput, PartInput } from '../../src/contract/mesh.js';
import { findEverything } from '../../src/diagnose/diagnose.js';
import { buildMesh } from '../../src/mesh/build.js';
import { aimsOf, offsetOf } from '../../src/solver/cpu/contact-aims.js';
import { PairSet } from '../../src/solver/cpu/pair-set.js';
import { Scratch } from '../../src/solver/cpu/workspace.js';
import { EE, VE, VT, VV } from '../../src/solver/pair-kinds.js';
import { distanceOfPair, distancesByVertex } from '../../src/solver/part-distances.js';
import { PLAN } from '../support/pull-back-bench.js';
import { makeSettings } from '../support/settings.js';

type Lengths = Pick<PartInput, 'activationDistance' | 'contactOffset'>;

/** Parameters of all cases, and engine units per unit of the caller. */
const DELTA = 0.125;
const OFFSET = DELTA / 4;
const SCALE = 4;

/** Elements with one pair each, at vertices 0 to 3, whose sides are `gap` apart. */
const SHAPES = {
  VT: { kind: VT, mesh: { triangles: Uint32Array.of(1, 2, 3), particles: Uint32Array.of(0) } },
  EE: { kind: EE, mesh: { segments: Uint32Array.of(0, 1, 2, 3) } },
  VE: { kind: VE, mesh: { segments: Uint32Array.of(1, 2), particles: Uint32Array.of(0) } },
  VV: { kind: VV, mesh: { particles: Uint32Array.of(0, 1) } },
} as const satisfies Record<string, { readonly kind: number; readonly mesh: Partial<MeshInput> }>;

const positionsOf = (shape: keyof typeof SHAPES, gap: number): Float64Array =>
  shape === 'EE'
    ? Float64Array.of(-1, 0, gap, 1, 0, gap, 0, -1, 0, 0, 1, 0)
    : shape === 'VT'
      ? Float64Array.of(0, 0, gap, -1, -1, 0, 1, -1, 0, 0, 1, 0)
      : shape === 'VE'
        ? Float64Array.of(0, 0, gap, -1, 0, 0, 1, 0, 0)
        : Float64Array.of(0, 0, gap, 0, 0, 0);

/** Contact offset of the pair, in the caller's unit, if the vertices belong to these parts. */
const CASES: readonly [shape: keyof typeof SHAPES, parts: readonly (readonly [Lengths, number])[], offset: number][] = [
  ['VT', [[{}, 4]], OFFSET],
  [
    'VT',
    [
      [{}, 1],
      [{}, 3],
    ],
    OFFSET,
  ],
  [
    'VT',
    [
      [{ contactOffset: 0.125 }, 1],
      [{}, 3],
    ],
    (0.125 + OFFSET) / 2,
  ],
  [
    'VT',
    [
      [{ contactOffset: 0 }, 1],
      [{}, 3],
    ],
    OFFSET / 2,
  ],
  [
    'VT',
    [
      [{ contactOffset: 0.0625 }, 1],
      [{ contactOffset: 0.125 }, 3],
    ],
    0.09375,
  ],
  [
    'VT',
    [
      [{ activationDistance: 0.25 }, 1],
      [{}, 3],
    ],
    (0.0625 + OFFSET) / 2,
  ],
  [
    'VT',
    [
      [{ activationDistance: 0.25, contactOffset: 0.25 }, 1],
      [{}, 3],
    ],
    (0.25 + OFFSET) / 2,
  ],
  // An element of two parts has the larger one.
  [
    'VT',
    [
      [{ contactOffset: 0.125 }, 2],
      [{}, 2],
    ],
    0.125,
  ],
  [
    'VT',
    [
      [{}, 3],
      [{ contactOffset: 0.125 }, 1],
    ],
    (OFFSET + 0.125) / 2,
  ],
  [
    'EE',
    [
      [{}, 1],
      [{ contactOffset: 0.125 }, 1],
      [{}, 2],
    ],
    (0.125 + OFFSET) / 2,
  ],
  [
    'EE',
    [
      [{}, 3],
      [{ contactOffset: 0.125 }, 1],
    ],
    (OFFSET + 0.125) / 2,
  ],
  [
    'VE',
    [
      [{ contactOffset: 0.0625 }, 2],
      [{ contactOffset: 0.125 }, 1],
    ],
    0.09375,
  ],
  [
    'VV',
    [
      [{ contactOffset: 0.0625 }, 1],
      [{ contactOffset: 0.125 }, 1],
    ],
    0.09375,
  ],
];

const meshOf = (shape: keyof typeof SHAPES, own: readonly (readonly [Lengths, number])[]): MeshInput => {
  let firstVertex = 0;
  const parts = own.map(([lengths, vertexCount], k) => {
    const part = { name: `part ${k}`, firstVertex, vertexCount, ...lengths };
    firstVertex += vertexCount;
    return part;
  });
  return { vertexCount: firstVertex, parts, ...SHAPES[shape].mesh };
};

/** The offset for which the contact of the pair aims in the pull-back, the caller's unit. */
function aimedFor(shape: keyof typeof SHAPES, input: MeshInput): number {
  const plan = { ...PLAN, offset: OFFSET / DELTA };
  const settings = makeSettings({ delta: DELTA * SCALE, scale: SCALE, pullBack: plan });
  const mesh = buildMesh(input);
  const pairs = new PairSet();
  pairs.push(SHAPES[shape].kind, 0, 1, 2, 3, 0, 0, 0);
  const distances = distancesByVertex(mesh, settings);
  const delta = distances ? distanceOfPair(distances, pairs, 0) : settings.delta;
  return offsetOf(pairs, 0, delta, aimsOf(mesh, settings, plan, new Scratch())) / SCALE;
}

/** Whether a diagnosis finds a thin gap. */
function isThin(mesh: MeshInput, positions: Float64Array): boolean {
  const opening = { gap: OFFSET, by: 'contactOffset' } as const;
  const floor = { floor: DELTA / 100, isFloorRounding: false };
  const lengths = { activationDistance: DELTA, opening, ...floor, stretchLimit: 1.1 };
  const { findings } = findEverything(
    { mesh, positions, maxElements: 1 },
    { lengthsOf: () => lengths, checkpoint: () => {}, now: () => 0 },
  );
  return findings.some(({ code }) => code === 'THIN_GAP');
}

t.test('contacts aim for the offset of their pair, and a diagnosis counts the gaps below it', async (t) => {
  for (const [shape, parts, offset] of CASES) {
    const name = `${shape} ${JSON.stringify(parts)}`;
    const mesh = meshOf(shape, parts);
    t.equal(aimedFor(shape, mesh), offset, name);
    t.ok(isThin(mesh, positionsOf(shape, 0.999 * offset)), `below: ${name}`);
    t.notOk(isThin(mesh, positionsOf(shape, 1.001 * offset)), `above: ${name}`);
  }
});
