import type { MeshInput } from '../../../src/contract/mesh.js';
import type { MethodName, ParametersInput, Quality } from '../../../src/contract/parameters.js';
import type { ProveScene } from './builder.js';
import type { Random } from './random.js';

/** How a scene is sent: properties that must not affect safety. */
export interface Variation {
  /** caller's units per metre */
  readonly scale: number;
  /** caller's units, added to every coordinate after scaling */
  readonly offset: number;
  readonly scalar: 'FLOAT32' | 'FLOAT64';
  readonly preset: 'TUNED' | 'PAPER';
  /** how the target is made extreme; NONE = unchanged */
  readonly extreme: Extreme;
  readonly corner: Corner;
  /** the target is float32, and so is the answer, although start and target would be float64 */
  readonly isNarrowed?: true;
  /** the mesh has parts with their own activation distances */
  readonly hasPartDistances?: true;
  /** some pairs of parts, or parts with themselves, are ignored; elements that span parts are ignored by none */
  readonly isIgnoringParts?: true;
  /** strains of its elements have limits, unless a rest shape is flat or there are too many */
  readonly hasStrainLimits?: true;
  /** absent = the service's default */
  readonly quality?: Quality;
  /** absent = the service's default */
  readonly method?: MethodName;
  /** contact offset in δ; absent = the service's default */
  readonly offsetShare?: number;
  /** IGNORE_PAIRS: pairs that intersect in the start are excluded */
  readonly isIgnoring?: true;
}

/** A scene without changes. */
export const PLAIN: Variation = {
  scale: 1,
  offset: 0,
  scalar: 'FLOAT64',
  preset: 'TUNED',
  extreme: 'NONE',
  corner: 'DEFAULT',
};

export type Extreme = 'NONE' | 'FAR' | 'POINT' | 'MIRROR' | 'NOISE' | 'SAME';
export type Corner = keyof typeof CORNERS;

export const SCALES = [1, 1e-3, 1e3, 0.1, 10];
export const OFFSETS = [0, 1, 100, 1e4];
export const SCALARS = ['FLOAT32', 'FLOAT64'] as const;
export const PRESETS = ['TUNED', 'PAPER'] as const;
export const EXTREMES: readonly Extreme[] = ['NONE', 'NONE', 'NONE', 'FAR', 'POINT', 'MIRROR', 'NOISE', 'SAME'];

/** Corners of the parameter space; lengths are in metres and scaled with the scene. */
export const CORNERS = {
  DEFAULT: {},
  ONE_STEP: { stepLimit: 1 },
  ONE_SHORT_STEP: { stepLimit: 1, leap: 0 },
  THREE_STEPS: { stepLimit: 3 },
  NO_STRETCH: { stretchLimit: 0 },
  TIGHT_STRETCH: { stretchLimit: 1.0001 },
  TIMID: { damping: 0.01, stepLimit: 60 },
  BOLD: { damping: 0.999 },
  MANY_SWEEPS: { sweepsPerStep: 16 },
  THIN: { activationDistance: 2e-4 },
  THICK: { activationDistance: 4e-3 },
  SHORT_REACH: { reach: 1e-4 },
  LONG_REACH: { reach: 0.02 },
  NO_LEAP: { leap: 0 },
  LONG_LEAP: { leap: 0.06 },
  ISOTROPIC: { forward: 'ISOTROPIC', stepLimit: 80 },
  PLANAR_VOLUME: { forward: 'PLANAR', contact: 'VOLUME' },
  LOOSE_END: { residualTolerance: 0.9 },
  STRICT_END: { residualTolerance: 1e-9, stepLimit: 120 },
  PATH: { verify: 'PATH' },
  PROTECT: { kinematicPairs: 'PROTECT' },
  STRIDE: { leap: 4, kinematicPairs: 'PROTECT' },
  CRAWL: { activationDistance: 5e-5, reach: 1e-5, leap: 0, stepLimit: 80 },
} as const satisfies Readonly<Record<string, ParametersInput>>;

const LENGTHS = ['activationDistance', 'reach', 'leap'] as const;
const TUNED_ONLY: readonly string[] = ['reach', 'leap'];

/**
 * @param delta δ if the corner sets none, the caller's unit
 * @returns the parameters of a request, lengths in the caller's unit
 */
export function parametersOf(variation: Variation, delta: number): ParametersInput {
  const { preset, corner, scale, isIgnoring, quality, offsetShare, method } = variation;
  const chosen: Record<string, unknown> = { ...CORNERS[corner] };
  for (const name of LENGTHS) {
    if (typeof chosen[name] === 'number') chosen[name] = (chosen[name] as number) * scale;
    if (preset === 'PAPER' && TUNED_ONLY.includes(name)) delete chosen[name];
  }
  if (quality) chosen.quality = quality;
  if (method) chosen.method = method;
  const widest = (chosen.activationDistance as number | undefined) ?? delta;
  // If shapes have several scales, the service takes a smaller δ than the usual default, and refuses offsets beyond it. If
  // rounding has reduced the edges to length 0, there is no default (hasNoDefault), and a δ of 0 would be a wrong request.
  if (offsetShare !== undefined && widest > 0)
    Object.assign(chosen, { activationDistance: widest, contactOffset: offsetShare * widest });
  if (isIgnoring) chosen.onIntersectingStart = 'IGNORE_PAIRS';
  return { preset, metresPerUnit: 1 / scale, stepLimit: 200, ...chosen } as ParametersInput;
}

/** Metres. PAPER accepts none beyond Dmin, which is twice its default. */
const PART_DISTANCES = { TUNED: [3e-4, 1e-3, 4e-3], PAPER: [5e-4, 1e-3, 2e-3] } as const;
/** The middle part uses that of the parameters. */
const OWN_DISTANCE = [true, false, true];

/** The mesh in three parts of about the same size, unless it has its own, with the variation's properties of parts. */
export function withParts(mesh: MeshInput, variation: Variation, random: Random): MeshInput {
  if (!mesh.parts && mesh.vertexCount < 3) return mesh;
  const { hasPartDistances, preset, scale } = variation;
  const cuts = [0, 1, 2, 3].map((k) => Math.round((k * mesh.vertexCount) / 3));
  const bare = [0, 1, 2].map((k) => ({
    name: `part ${k}`,
    firstVertex: cuts[k],
    vertexCount: cuts[k + 1] - cuts[k],
    kinematic: false,
  }));
  const parts = (mesh.parts ?? bare).map((part, k) => ({
    ...part,
    ...(hasPartDistances && OWN_DISTANCE[k % OWN_DISTANCE.length]
      ? { activationDistance: scale * random.pick(PART_DISTANCES[preset]) }
      : {}),
  }));
  const isIgnoring = variation.isIgnoringParts && !mesh.ignoredPartPairs;
  return { ...mesh, parts, ...(isIgnoring ? { ignoredPartPairs: drawIgnored(parts.length, random) } : {}) };
}

/** One or two pairs of parts, in any order; half of the time one of them is a part with itself. */
function drawIgnored(count: number, random: Random): Uint32Array {
  const first = random.below(count);
  const other = (first + 1 + random.below(count - 1)) % count;
  const alone = random.below(count);
  return Uint32Array.from(random.next() < 0.5 ? [first, other] : [first, other, alone, alone]);
}

export interface SentScene {
  readonly start: Float32Array | Float64Array;
  readonly target: Float32Array | Float64Array;
}

/** The numbers that are sent: jittered, rotated at random, made extreme, scaled, shifted, rounded to their scalar. */
export function vary(scene: ProveScene, variation: Variation, random: Random): SentScene {
  const { scalar, isNarrowed } = variation;
  if (scene.isExact) return asItIs(scene, variation, random);
  const { scale, offset } = variation;
  const turn = randomTurn(random);
  // A millionth of a metre: another scene for every repeat, and far less than the gaps of the scenes.
  const amount = scene.isJittered === false ? 0 : JITTER;
  const jitter = scene.start.map(() => amount * (random.next() - 0.5));
  const start = scene.start.map((p, i) => p + jitter[i]);
  const target = makeExtreme(
    start,
    scene.target.map((p, i) => p + jitter[i]),
    variation.extreme,
    random,
  );
  const move = (p: Float64Array, isSingle: boolean) => {
    const moved = new Float64Array(p.length);
    for (let v = 0; v < p.length; v += 3) {
      for (let c = 0; c < 3; c++) {
        moved[v + c] = offset + scale * (turn[3 * c] * p[v] + turn[3 * c + 1] * p[v + 1] + turn[3 * c + 2] * p[v + 2]);
      }
    }
    return isSingle ? Float32Array.from(moved) : moved;
  };
  const isSingle = scalar === 'FLOAT32';
  return { start: move(start, isSingle), target: move(target, isSingle || isNarrowed === true) };
}

/** A scene whose bits matter: neither rotated nor shifted nor scaled. */
function asItIs({ start, target }: ProveScene, { scalar, isNarrowed, extreme }: Variation, random: Random): SentScene {
  const goal = makeExtreme(start, target, extreme, random);
  const isSingle = scalar === 'FLOAT32';
  return {
    start: isSingle ? Float32Array.from(start) : start,
    target: isSingle || isNarrowed ? Float32Array.from(goal) : goal,
  };
}

const JITTER = 1e-6;

function makeExtreme(start: Float64Array, target: Float64Array, extreme: Extreme, random: Random): Float64Array {
  const goal = [0, 1, 2].map(() => random.between(-0.1, 0.1));
  switch (extreme) {
    case 'NONE':
      return target;
    case 'SAME':
      return start.slice();
    case 'FAR':
      return target.map((p, i) => start[i] + 100 * (p - start[i]));
    case 'POINT':
      return target.map((_, i) => goal[i % 3]);
    case 'MIRROR':
      return target.map((p, i) => (i % 3 === 0 ? -p : p));
    case 'NOISE':
      return target.map((p) => p + 0.05 * (random.next() - 0.5));
  }
}

/** A rotation from a random quaternion, rows. */
function randomTurn(random: Random): number[] {
  const q = [0, 1, 2, 3].map(() => random.between(-1, 1));
  const length = Math.hypot(...q) || 1;
  const [w, x, y, z] = q.map((c) => c / length);
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    1 - 2 * (x * x + z * z),
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    1 - 2 * (x * x + y * y),
  ];
}
