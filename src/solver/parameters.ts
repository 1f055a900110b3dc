import type { ElementRef } from '../contract/elements.js';
import type { Warning } from '../contract/errors.js';
import { IntersticeError } from '../contract/errors.js';
import type { MethodName, Parameters, ParametersInput, Preset, Quality } from '../contract/parameters.js';
import type { EngineDescription } from '../contract/server-info.js';
import type { MeshMeasures } from '../mesh/types.js';
import { checkMethod, warnOfForeign } from './methods.js';

/** The only place of defaults and ranges. Lengths follow from δ and the mesh; all others are here. */
const COMMON = {
  stretchLimit: 1.1,
  damping: 0.9,
  residualTolerance: 1e-4,
  stepLimit: 512,
  metresPerUnit: 1,
  verify: 'STATE',
  onIntersectingStart: 'REJECT',
  kinematicPairs: 'SKIP',
  quality: 'BALANCED',
  method: 'TWO_WAY',
} as const;

const PRESETS = {
  TUNED: { ...COMMON, preset: 'TUNED', sweepsPerStep: 2, forward: 'PLANAR', contact: 'GAP' },
  PAPER: { ...COMMON, preset: 'PAPER', sweepsPerStep: 1, forward: 'ISOTROPIC', contact: 'VOLUME', quality: 'FAST' },
} as const satisfies Record<Preset, ParametersInput>;

/**
 * δ of preset TUNED in typical edges (mesh/typical-edge.ts), usually the median edge: for 10 mm cloth the paper's 1 mm
 */
const DELTA_PER_EDGE = 0.1;
/** δ of preset PAPER, metres (the paper's section 6) */
const PAPER_DELTA_METRES = 0.001;
/**
 * Contact offset in δ: the gap that contacts of the pull-back leave. Garments are sent with gaps below δ/4, and opening
 * them that far takes a dress a tenth farther from its target (docs/method.md); ten floors remain.
 */
const OFFSET_PER_DELTA = 0.125;
/** ρ in δ */
const REACH_PER_DELTA = 1.8;
/** leap in typical edges */
const LEAP_PER_EDGE = 2;
/** Dmin and Dmax in δ (the paper's section 6) */
const RADIUS_MIN_PER_DELTA = 2;
const RADIUS_MAX_PER_DELTA = 4;
/**
 * longest length that a caller may set, in units of the larger of the median edge and the mesh's extent: the square of
 * any such length, in engine units, stays far inside float32 for every mesh that passes the check of the floor
 */
const LONGEST_LENGTH = 1e6;
const MAX_UINT32 = 2 ** 32 - 1;
/**
 * A device records every sweep of a step before it starts, and cannot be stopped in between: an unlimited number would
 * block a lane indefinitely. More than 20 sweeps bring no improvement.
 */
export const MAX_SWEEPS = 1000;

export interface ParameterRules {
  /**
   * The engine for which the parameters are: a quality that it does not have is refused. Absent = an engine with all.
   */
  readonly engine?: { readonly description: Pick<EngineDescription, 'name' | 'qualities' | 'methods'> };
  /** whether verify NONE is accepted */
  readonly allowUnverified?: boolean;
}

/** Returns the defaults of a preset that do not depend on a mesh. */
export function defaultsOf(preset: Preset): ParametersInput {
  return PRESETS[preset];
}

/**
 * Sets every field: the preset first, then the fields that are set.
 *
 * @param input lengths in the caller's unit
 * @param measures of the start, in the same unit
 * @throws INVALID_PARAMETER with the name, the value and the range; PERMISSION_DENIED for verify NONE if it is not
 *   allowed
 */
export function resolveParameters(
  input: ParametersInput,
  measures: MeshMeasures,
  rules: ParameterRules = {},
): { readonly parameters: Parameters; readonly warnings: readonly Warning[] } {
  checkEnums(input);
  const preset: Preset = input.preset ?? 'TUNED';
  const set = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as ParametersInput;
  const scalars = { ...PRESETS[preset], quality: defaultQuality(preset, input.method, rules), ...set };
  checkScalars(scalars);

  const longest = longestLengthOf(measures);
  // `longest` does not limit a default: PAPER's metric δ may be long for a tiny mesh, and a warning says so.
  const length = (name: LengthName, fallback: number, least = 0, isLeastAllowed = false, mostOfName = longest) =>
    checkLength(name, input[name] ?? fallback, {
      least,
      isLeastAllowed,
      most: input[name] === undefined ? Number.MAX_VALUE : Math.max(Math.min(longest, mostOfName), least),
    });
  const activationDistance = length('activationDistance', defaultDelta(input, scalars.metresPerUnit, measures));
  refuseCrowding('activationDistance', activationDistance, measures.largestDelta, measures);
  // 2 typical edges are 20 default δ; if every edge has zero length, only this ratio remains.
  const defaultLeap =
    measures.typicalEdge > 0
      ? LEAP_PER_EDGE * measures.typicalEdge
      : (LEAP_PER_EDGE / DELTA_PER_EDGE) * activationDistance;
  const searchRadiusMin = length(
    'searchRadiusMin',
    RADIUS_MIN_PER_DELTA * activationDistance,
    activationDistance,
    true,
    longestRadius(measures),
  );
  const parameters: Parameters = {
    ...scalars,
    preset,
    activationDistance,
    reach: length('reach', REACH_PER_DELTA * activationDistance),
    leap: length('leap', defaultLeap, 0, true),
    searchRadiusMin,
    searchRadiusMax: length(
      'searchRadiusMax',
      Math.max(RADIUS_MAX_PER_DELTA * activationDistance, searchRadiusMin),
      searchRadiusMin,
      true,
      longestRadius(measures),
    ),
    contactOffset: offsetOf(input, activationDistance),
  };
  if (preset === 'TUNED') refusePaperOnly(input, parameters);
  checkMethod(parameters, rules);
  checkQuality(parameters, rules);
  if (parameters.verify === 'NONE' && !rules.allowUnverified) {
    throw new IntersticeError('PERMISSION_DENIED', 'verify is NONE, which is not allowed here.', {
      hint: 'Use STATE or PATH, or set INTERSTICE_ALLOW_UNVERIFIED=1 where the request is computed.',
    });
  }
  return {
    parameters,
    warnings: [
      ...warnOfScale(parameters, measures),
      ...warnOfUnused(input, parameters, defaultLeap),
      ...warnOfForeign(input, parameters, () => {
        const { method } = parameters;
        return resolveParameters({ method, activationDistance, verify: 'STATE' }, measures, rules).parameters;
      }),
    ],
  };
}

function offsetOf(input: ParametersInput, delta: number): number {
  const offset = input.contactOffset ?? OFFSET_PER_DELTA * delta;
  if (offset >= 0 && offset <= delta) return offset;
  return refuse('contactOffset', offset, `at least 0 and at most activationDistance (${delta})`);
}

/** Returns the quality of the preset if method and engine have it, otherwise FAST, which all have. */
function defaultQuality(preset: Preset, method: MethodName | undefined, { engine }: ParameterRules): Quality {
  if (method === 'VOLUME_IMPULSES') return 'FAST';
  const { quality } = PRESETS[preset];
  return !engine || engine.description.qualities?.includes(quality) ? quality : 'FAST';
}

/**
 * @throws INVALID_PARAMETER under PAPER, which is exactly Algorithm 1; UNIMPLEMENTED if the engine has no such quality
 */
function checkQuality({ preset, quality }: Parameters, { engine }: ParameterRules): void {
  if (quality === 'FAST') return;
  if (preset === 'PAPER') refuse('quality', quality, 'FAST or unset under preset PAPER');
  if (!engine || engine.description.qualities?.includes(quality)) return;
  throw new IntersticeError('UNIMPLEMENTED', `The engine ${engine.description.name} has no quality ${quality}.`, {
    hint: 'Use quality FAST, or a server with the CPU engine (interstice serve --engine cpu).',
  });
}

/**
 * Refuses a δ with which the elements of a mesh push their own neighbours, even at rest (mesh/largest-delta.ts).
 *
 * @param most the caller's unit; undefined = any
 * @throws INVALID_PARAMETER with the bound and a usual value
 */
export function refuseCrowding(
  name: string,
  delta: number,
  most: number | undefined,
  measures: MeshMeasures,
  element?: ElementRef,
): void {
  if (most === undefined || delta <= most) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `${name} is ${delta}; it must be at most ${roundDownForReading(most)}, eight times the distance of neighbouring vertices: with more, every element would push its own neighbours apart.`,
    {
      hint: `A usual value is ${DELTA_PER_EDGE * measures.typicalEdge}. Check the unit: lengths are in the unit of the positions.`,
      ...(element ? { element } : {}),
    },
  );
}

/** Rounds down to four digits, so that a number copied from the message is accepted. */
function roundDownForReading(value: number): number {
  const rounded = Number(value.toPrecision(4));
  return rounded <= value ? rounded : Number((value * 0.9995).toPrecision(4));
}

/** Longest search radius, in units of the largest δ: Dmax is 4 δ by default. */
function longestRadius({ largestDelta }: MeshMeasures): number {
  return RADIUS_MAX_PER_DELTA * (largestDelta ?? Number.POSITIVE_INFINITY);
}

type LengthName = 'activationDistance' | 'reach' | 'leap' | 'searchRadiusMin' | 'searchRadiusMax';

function refuse(name: string, value: unknown, range: string): never {
  throw new IntersticeError('INVALID_PARAMETER', `${name} is ${String(value)}; it must be ${range}.`);
}

const ENUMS = {
  preset: ['TUNED', 'PAPER'],
  forward: ['PLANAR', 'ISOTROPIC'],
  contact: ['GAP', 'VOLUME'],
  verify: ['NONE', 'STATE', 'PATH'],
  onIntersectingStart: ['REJECT', 'IGNORE_PAIRS'],
  kinematicPairs: ['SKIP', 'PROTECT'],
  quality: ['FAST', 'BALANCED', 'FINE'],
  method: ['TWO_WAY', 'VOLUME_IMPULSES'],
} as const satisfies { [K in keyof Parameters]?: readonly Parameters[K][] };

function checkEnums(input: ParametersInput): void {
  for (const name of Object.keys(ENUMS) as (keyof typeof ENUMS)[]) {
    const value = input[name];
    const allowed: readonly string[] = ENUMS[name];
    if (value !== undefined && !allowed.includes(value)) refuse(name, value, `one of ${allowed.join(', ')}`);
  }
}

/** Every comparison is written so that NaN fails it. */
const SCALARS = {
  stretchLimit: ['0 (off) or greater than 1', (v) => v === 0 || (v > 1 && v < Infinity)],
  damping: ['greater than 0 and less than 1', (v) => v > 0 && v < 1],
  residualTolerance: ['greater than 0 and less than 1', (v) => v > 0 && v < 1],
  stepLimit: [`a whole number from 1 to ${MAX_UINT32}`, isCount],
  sweepsPerStep: [`a whole number from 1 to ${MAX_SWEEPS}`, (v) => isCount(v) && v <= MAX_SWEEPS],
  metresPerUnit: ['greater than 0 and finite', (v) => v > 0 && v < Infinity],
} as const satisfies { [K in keyof Parameters]?: readonly [range: string, holds: (value: number) => boolean] };

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= MAX_UINT32;
}

function checkScalars(values: { readonly [K in keyof typeof SCALARS]: number }): void {
  for (const name of Object.keys(SCALARS) as (keyof typeof SCALARS)[]) {
    const [range, holds] = SCALARS[name];
    if (!holds(values[name])) refuse(name, values[name], range);
  }
}

interface LengthRange {
  readonly least: number;
  readonly isLeastAllowed: boolean;
  readonly most: number;
}

function checkLength(name: LengthName, value: number, { least, isLeastAllowed, most }: LengthRange): number {
  if ((value > least || (isLeastAllowed && value === least)) && value <= most) return value;
  return refuse(name, value, `${isLeastAllowed ? 'at least' : 'greater than'} ${least} and at most ${most}`);
}

/** Returns the longest length that a caller may set, the caller's unit. */
export function longestLengthOf({ medianEdge, bounds }: MeshMeasures): number {
  const side = Math.max(bounds[3] - bounds[0], bounds[4] - bounds[1], bounds[5] - bounds[2]);
  return LONGEST_LENGTH * (Math.max(medianEdge, side) || Math.max(...bounds.map(Math.abs)) || 1);
}

function defaultDelta(input: ParametersInput, metresPerUnit: number, measures: MeshMeasures): number {
  if (input.preset === 'PAPER') return PAPER_DELTA_METRES / metresPerUnit;
  if (measures.medianEdge === 0 && input.activationDistance === undefined) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `activationDistance is unset, and its default, ${DELTA_PER_EDGE} median edges, is 0 because the edges have no length; it must be set to more than 0.`,
    );
  }
  return DELTA_PER_EDGE * measures.typicalEdge;
}

/** The default value itself is accepted, so that a caller can send the `resolved` of a report back as it is. */
function refusePaperOnly(input: ParametersInput, { activationDistance }: Parameters): void {
  const defaults = {
    searchRadiusMin: RADIUS_MIN_PER_DELTA * activationDistance,
    searchRadiusMax: RADIUS_MAX_PER_DELTA * activationDistance,
  };
  for (const name of ['searchRadiusMin', 'searchRadiusMax'] as const) {
    const value = input[name];
    if (value !== undefined && value !== defaults[name]) refuse(name, value, 'left unset unless preset is PAPER');
  }
}

/** Whether a δ is so long that neighbouring elements of the mesh may push each other apart. */
export function isAboveHalfEdge(delta: number, { typicalEdge }: MeshMeasures): boolean {
  return typicalEdge > 0 && delta > typicalEdge / 2;
}

/** 'the median edge (0.01)' */
export function nameTypicalEdge({ typicalEdge, medianEdge }: MeshMeasures): string {
  const name = typicalEdge === medianEdge ? 'the median edge' : 'the typical edge where the mesh is densest';
  return `${name} (${typicalEdge})`;
}

/** Volume-preserving impulses have no contacts that δ could push apart: they take their floor from it, and no more. */
function warnOfScale({ activationDistance: delta, method }: Parameters, measures: MeshMeasures): Warning[] {
  if (method === 'VOLUME_IMPULSES') return [];
  const warnings: Warning[] = [];
  if (isAboveHalfEdge(delta, measures)) {
    warnings.push({
      code: 'DELTA_ABOVE_HALF_EDGE',
      message: `activationDistance ${delta} exceeds half ${nameTypicalEdge(measures)}: neighbouring elements may push each other apart. A usual value is ${DELTA_PER_EDGE * measures.typicalEdge}.`,
      count: 1,
    });
  }
  if (delta > measures.minHeight) {
    warnings.push({
      code: 'DELTA_ABOVE_HEIGHT',
      message: `activationDistance ${delta} exceeds the smallest triangle height (${measures.minHeight}): such slivers keep no more than their initial height, and may slow down their surroundings.`,
      count: 1,
    });
  }
  return warnings;
}

/** Only TUNED has trust boxes: their size has no effect under PAPER. Only the pull-back has contact offsets: FAST has none. */
function warnOfUnused(input: ParametersInput, parameters: Parameters, defaultLeap: number): Warning[] {
  const { contactOffset, activationDistance } = parameters;
  const isOffsetUnread = parameters.method === 'TWO_WAY' && parameters.quality === 'FAST';
  const unread: Warning[] =
    isOffsetUnread && input.contactOffset !== undefined && contactOffset !== OFFSET_PER_DELTA * activationDistance
      ? [
          {
            code: 'PARAMETER_WITHOUT_EFFECT',
            message:
              'contactOffset has no effect under quality FAST, which opens gaps to a quarter of activationDistance.',
            count: 1,
          },
        ]
      : [];
  return [...unread, ...warnOfBoxes(input, parameters, defaultLeap)];
}

function warnOfBoxes(input: ParametersInput, parameters: Parameters, defaultLeap: number): Warning[] {
  if (parameters.preset !== 'PAPER') return [];
  const defaults = { reach: REACH_PER_DELTA * parameters.activationDistance, leap: defaultLeap };
  return (['reach', 'leap'] as const)
    .filter((name) => input[name] !== undefined && input[name] !== defaults[name])
    .map((name) => ({
      code: 'PARAMETER_WITHOUT_EFFECT',
      message: `${name} has no effect under preset PAPER, which searches by searchRadiusMin and searchRadiusMax.`,
      count: 1,
    }));
}
