import type { MethodName, Quality } from '../../../src/contract/parameters.js';
import { DOORS, type DoorName } from '../doors/doors.js';
import { GENERATED, IN_SESSIONS, TANGLED } from '../scenes/generated.js';
import { Random } from '../scenes/random.js';
import {
  CORNERS,
  type Corner,
  EXTREMES,
  OFFSETS,
  PLAIN,
  PRESETS,
  SCALARS,
  SCALES,
  type Variation,
} from '../scenes/variation.js';
import { TANGLED_STARTS } from '../untangling/tangled-starts.js';

/**
 * WHOLE_SESSION: a session of small frames that is completed however short the campaign is. ROUGH_SESSION: the same,
 * but shorter, with a disturbance in every other frame. TURNS: several sessions of one mesh at the same time, more than
 * a service of two threads has lanes, so that some of them share one. UNTANGLE: a start with intersections is
 * untangled, several times.
 */
export type Mode = 'RESOLVE' | 'SESSION' | 'LONG_SESSION' | 'TURNS' | 'WHOLE_SESSION' | 'ROUGH_SESSION' | 'UNTANGLE';

/** One thing to try; the id and the seed are enough to try it again. */
export interface ProveCase {
  readonly id: string;
  readonly scene: string;
  readonly seed: number;
  readonly mode: Mode;
  readonly door: DoorName;
  readonly variation: Variation;
}

/** One case in this many is a session, besides those of scenes that are tried in no other way. */
const SESSION_EVERY = 5;
/** Of these, one in this many is a long one, the first included; one of real size would use up the campaign. */
const LONG_EVERY = 4;
/** And one in this many, from the second on, is several sessions that take turns. */
const TURNS_EVERY = 2;
/** Real inputs are larger; one case in this many is one of them. */
const REAL_EVERY = 7;
/** After this many cases a start is untangled. */
const UNTANGLE_EVERY = 5;
const ORDINARY = ['NONE', 'FAR', 'SAME'] as const;
/** Shares of the cases with options that few callers use. */
const NARROWED_SHARE = 0.3;
const OWN_DISTANCES_SHARE = 0.25;
const IGNORING_SHARE = 0.15;
const IGNORED_PARTS_SHARE = 0.2;
/** Share of the cases whose elements have strain limits, if the scene allows it. */
const STRAIN_LIMITS_SHARE = 0.1;
/** Share of the cases of a touching scene that test paths: no other level of verification detects that it touches. */
const TOUCHING_SHARE = 0.7;
/** Shares of the cases under TUNED that name a quality, if there are several, and of these with their own offset. */
const NAMED_QUALITY_SHARE = 0.7;
const OWN_OFFSET_SHARE = 0.4;
/** Contact offsets in δ, up to the largest that is accepted. */
const OFFSET_SHARES = [0, 0.05, 0.5, 0.9];
/** Share of the cases under TUNED that request volume-preserving impulses, if the engine has them. */
const IMPULSES_SHARE = 0.12;
/** Share of plain cases: ordinary numbers make the engine move most. */
const PLAIN_SHARE = 0.35;

/**
 * An endless list of cases. Scenes, engines' inputs and corners take turns, so that a short campaign has a little of
 * everything; the seed determines the rest.
 *
 * @param methods that the engine has
 * @param qualities that the engine has; cases of two engines with one seed differ in nothing else
 */
export function* makeCases(
  seed: number,
  realScenes: readonly string[],
  qualities: readonly Quality[],
  methods: readonly MethodName[] = [],
): Generator<ProveCase> {
  yield* wholeSessions(seed);
  const generated = Object.keys(GENERATED);
  const corners = Object.keys(CORNERS) as Corner[];
  for (let n = 0; ; n++) {
    const caseSeed = (seed + Math.imul(n + 1, 0x9e3779b1)) >>> 0;
    const random = new Random(caseSeed);
    const isReal = realScenes.length > 0 && n % REAL_EVERY === REAL_EVERY - 1;
    const turn = Math.floor(n / REAL_EVERY);
    const scene = isReal ? realScenes[turn % realScenes.length] : generated[(n - turn) % generated.length];
    const isPlain = random.next() < PLAIN_SHARE;
    const isSession = n % SESSION_EVERY === SESSION_EVERY - 1 || IN_SESSIONS.includes(scene);
    const isLong = isSession && !isReal && Math.floor(n / SESSION_EVERY) % LONG_EVERY === 0;
    const takesTurns = Math.floor(n / SESSION_EVERY) % TURNS_EVERY === 1;
    const ofSession: Mode = isLong ? 'LONG_SESSION' : takesTurns ? 'TURNS' : 'SESSION';
    const mode: Mode = isSession ? ofSession : 'RESOLVE';
    const door = DOORS[(n + Math.floor(n / DOORS.length)) % DOORS.length];
    const scalar = SCALARS[n % 2];
    const variation: Variation = {
      scalar,
      scale: isPlain ? 1 : random.pick(SCALES),
      offset: isPlain ? 0 : random.pick(OFFSETS),
      preset: random.next() < 0.3 ? PRESETS[1] : PRESETS[0],
      // Thousands of vertices with one place as their target cost minutes and show no more than a hundred.
      extreme: isPlain ? 'NONE' : random.pick(isReal ? ORDINARY : EXTREMES),
      corner: isPlain ? 'DEFAULT' : corners[n % corners.length],
    };
    const special = withMethod(withQuality(withSpecials(variation, scene, random), qualities, random), methods, random);
    yield { id: `${n}-${scene}`, scene, seed: caseSeed, mode, door, variation: special };
    if (n % UNTANGLE_EVERY === UNTANGLE_EVERY - 2) yield untangling(Math.floor(n / UNTANGLE_EVERY), caseSeed);
  }
}

/** Metres; farther away, float32 has no room to undo a tangle. */
const UNTANGLED_OFFSETS = [0, 0.3, 3];

/** @param turn starts, doors and scalars take turns */
function untangling(turn: number, seed: number): ProveCase {
  const random = new Random(seed ^ 0x2545f491);
  const starts = Object.keys(TANGLED_STARTS);
  const scene = starts[turn % starts.length];
  const isPlain = random.next() < PLAIN_SHARE;
  const scale = isPlain ? 1 : random.pick(SCALES);
  const offset = isPlain ? 0 : scale * random.pick(UNTANGLED_OFFSETS);
  const variation: Variation = { ...PLAIN, scalar: SCALARS[turn % SCALARS.length], scale, offset };
  const door = DOORS[(turn + Math.floor(turn / starts.length)) % DOORS.length];
  return { id: `u${turn}-${scene}`, scene, seed, mode: 'UNTANGLE', door, variation };
}

/** Further options: another scalar for the answer, parts with their own δ or that are ignored, pairs to be excluded. */
function withSpecials(variation: Variation, scene: string, random: Random): Variation {
  const { scalar, preset } = variation;
  const [narrowed, own, ignoring, parts, paths, strains] = Array.from({ length: 6 }, () => random.next());
  const isTouching = scene === 'touching';
  const corner = isTouching && paths < TOUCHING_SHARE ? 'PATH' : variation.corner;
  // PAPER refuses a part whose δ is beyond Dmin, which depends on the parameters' δ.
  const mayHaveOwn = preset === 'TUNED' || !('activationDistance' in CORNERS[corner]);
  return {
    ...variation,
    corner,
    ...(scalar === 'FLOAT64' && narrowed < NARROWED_SHARE ? { isNarrowed: true } : {}),
    ...(mayHaveOwn && own < OWN_DISTANCES_SHARE ? { hasPartDistances: true } : {}),
    ...(parts < IGNORED_PARTS_SHARE ? { isIgnoringParts: true } : {}),
    ...(strains < STRAIN_LIMITS_SHARE ? { hasStrainLimits: true } : {}),
    ...(ignoring < (isTouching || TANGLED.includes(scene) ? TANGLED_SHARE : IGNORING_SHARE)
      ? { isIgnoring: true }
      : {}),
  };
}

/** Drawn last, so that the other cases are the same as those of an engine without the method. */
function withMethod(variation: Variation, methods: readonly MethodName[], random: Random): Variation {
  const isAsked = random.next() < IMPULSES_SHARE && methods.includes('VOLUME_IMPULSES');
  return isAsked && variation.preset === 'TUNED' ? { ...variation, method: 'VOLUME_IMPULSES' } : variation;
}

/** PAPER has only one quality, and no contacts that aim at an offset. */
function withQuality(variation: Variation, qualities: readonly Quality[], random: Random): Variation {
  const [named, drawn, own, share] = Array.from({ length: 4 }, () => random.next());
  if (variation.preset === 'PAPER' || qualities.length < 2) return variation;
  return {
    ...variation,
    ...(named < NAMED_QUALITY_SHARE ? { quality: qualities[Math.floor(drawn * qualities.length)] } : {}),
    ...(own < OWN_OFFSET_SHARE ? { offsetShare: OFFSET_SHARES[Math.floor(share * OFFSET_SHARES.length)] } : {}),
  };
}

/** If pairs intersect or touch at the start, this share of the cases excludes them; the others must be refused. */
const TANGLED_SHARE = 0.7;

/**
 * The first cases of every campaign: sessions that are completed, on meshes so small that they cost seconds. One is
 * as callers have it; in one the mesh is tangled at the start and is separated and pushed together; one has mixed
 * elements close to each other, parts with distances of their own and, some of the time, answers in float32; in one
 * bodies change their places while others stay.
 */
function* wholeSessions(seed: number): Generator<ProveCase> {
  const whole = (scene: string, mode: Mode, door: DoorName, variation: Variation): ProveCase => ({
    id: `whole-${scene}`,
    scene,
    seed,
    mode,
    door,
    variation,
  });
  yield whole('handkerchiefs', 'WHOLE_SESSION', 'JSON', { ...PLAIN, scalar: SCALARS[seed % SCALARS.length] });
  yield whole('tangle', 'ROUGH_SESSION', 'PROTOBUF', { ...PLAIN, isIgnoring: true });
  yield whole('neighbours', 'ROUGH_SESSION', 'GRPC', { ...PLAIN, hasPartDistances: true });
  yield whole('changingPlaces', 'ROUGH_SESSION', 'JSON', PLAIN);
}
