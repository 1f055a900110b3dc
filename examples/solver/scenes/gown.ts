import type { Body, Vec } from '../src/bodies.js';
import { COTTON, OBSTACLE } from './materials.js';
import { bySize, makeRevolution, placed } from './shapes.js';
import type { MakeScene, Size } from './types.js';
import { wornOver } from './worn.js';

type Outline = readonly (readonly [radius: number, z: number])[];

/**
 * m: the body from its feet to its shoulders, and the gaps between it and the innermost layer, and between two layers
 */
const BODY: Outline = [
  [0.09, 0.1],
  [0.11, 0.5],
  [0.15, 0.85],
  [0.14, 0.95],
  [0.11, 1.08],
  [0.14, 1.3],
  [0.1, 1.42],
];
const SPACE = 0.012;

/** Layers from the inside to the outside, each from its upper edge, which is held, to its hem. */
const LAYERS: readonly {
  readonly name: string;
  readonly outline: Outline;
  readonly rings: Readonly<Record<Size, number>>;
}[] = [
  {
    name: 'gown',
    outline: [
      [0.14, 1.3],
      [0.115, 1.08],
      [0.17, 0.9],
      [0.4, 0.12],
    ],
    rings: { small: 22, quarter: 55, full: 110 },
  },
  {
    name: 'overskirt',
    outline: [
      [0.115, 1.08],
      [0.17, 0.9],
      [0.34, 0.32],
    ],
    rings: { small: 13, quarter: 31, full: 62 },
  },
  {
    name: 'peplum',
    outline: [
      [0.115, 1.08],
      [0.17, 0.9],
      [0.23, 0.7],
    ],
    rings: { small: 8, quarter: 17, full: 34 },
  },
];

/** Folds of the skirts: their number, and their depth, as a share of the radius, at the hem of the longest */
const FOLDS = { count: 8, depth: 0.06, waist: 1.08, hem: 0.12 };
/** The cross-section of the figure is an ellipse: half axes over the radius */
const ACROSS = { x: 1.2, y: 0.9 };

/** `count` points along an outline, at equal distances. */
function divide(outline: Outline, count: number): [number, number][] {
  const lengths = outline.slice(1).map(([r, z], i) => Math.hypot(r - outline[i]![0], z - outline[i]![1]));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return Array.from({ length: count }, (_, i) => {
    let rest = (total * i) / (count - 1);
    let at = 0;
    while (at + 1 < lengths.length && rest > lengths[at]!) rest -= lengths[at++]!;
    const [[r0, z0], [r1, z1]] = [outline[at]!, outline[at + 1]!];
    const share = Math.min(1, rest / lengths[at]!);
    return [r0 + (r1 - r0) * share, z0 + (z1 - z0) * share];
  });
}

const acrossOf = ([x, y, z]: Vec): Vec => [ACROSS.x * x, ACROSS.y * y, z];

/** Folds that deepen towards the hem; all layers have the same folds, so they stay apart. */
function folded([x, y, z]: Vec): Vec {
  const depth = FOLDS.depth * Math.max(0, (FOLDS.waist - z) / (FOLDS.waist - FOLDS.hem));
  const scale = 1 + depth * Math.cos(FOLDS.count * Math.atan2(y, x));
  return [x * scale, y * scale, z];
}

/**
 * m and rad: the dance of the body at a time, s. It turns back and forth, its shoulders ahead of its feet, and sways.
 */
function dance([x, y, z]: Vec, time: number): Vec {
  const eased = Math.min(1, time / 0.5);
  const angle = eased * (0.8 * Math.sin(2.5 * time) + 0.25 * (z - 0.9) * Math.sin(5 * time));
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [
    c * x - s * y + eased * 0.12 * Math.sin(1.5 * time),
    s * x + c * y + eased * 0.08 * Math.sin(2 * time),
    z + eased * 0.03 * Math.sin(6 * time),
  ];
}

/** A gown to the ankles under an overskirt and a peplum, on a body that turns and sways (Fig. 21, right: gown). */
export const gown: MakeScene = (size) => {
  const around = bySize(size, { small: 26, quarter: 50, full: 100 });
  const layers = LAYERS.map(({ name, outline, rings }, i): Body => {
    const profile = divide(outline, rings[size]).map(([r, z]) => [r + SPACE * (i + 1), z] as const);
    return {
      name,
      geometry: placed(makeRevolution(profile, around), (vertex) => acrossOf(folded(vertex))),
      material: COTTON,
      pins: Array(around).keys(),
      motion: dance,
    };
  });
  const body = makeRevolution(divide(BODY, bySize(size, { small: 16, quarter: 30, full: 60 })), around);
  return {
    name: 'gown',
    sentence: 'A gown under an overskirt and a peplum on a body that turns and sways.',
    paper: {
      name: 'Gown (Fig. 21c)',
      size: '27K, 51K',
      averageSteps: 32,
      maximumSteps: 150,
      averageCost: 0.092,
      maximumCost: 0.443,
    },
    timeStep: 1 / 100,
    frames: 400,
    friction: { static: 0.2, kinetic: 0.2 },
    // Much less than the gap between two layers, at every size of the scene.
    parameters: { activationDistance: 0.002 },
    bodies: [...layers, { name: 'body', geometry: placed(body, acrossOf), material: OBSTACLE, motion: dance }],
    ...wornOver(
      layers.map(({ geometry }) => geometry),
      body,
      around,
    ),
    view: [-0.3, 1, -0.2],
  };
};
