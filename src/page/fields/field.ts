import type { ElementPair } from '../../contract/elements.js';
import type { Positions } from '../../contract/mesh.js';
import { NO_REGION, type UntangledState } from '../../contract/untangle-answer.js';
import { BODY_COLOURS, type Colour, hex } from '../colours.js';
import { edgeLength, edgeLengths } from '../edges.js';
import { comparedLength, type StateName, type Study } from '../study.js';

/** Values that a colour map shows. A vertex without a value (NaN) has the colour of its part. */
export interface Field {
  readonly id: FieldId;
  readonly label: string;
  /** In one sentence, for the legend. */
  readonly explanation: string;
  readonly quantity: 'length' | 'ratio' | 'share' | 'count';
  /** Lowest value of the map; the highest follows from the values. */
  readonly low: number;
  /** States that it is defined in; undefined = all. */
  readonly states?: readonly StateName[];
  /** A value to mark in the legend, such as a limit. */
  readonly mark?: { readonly value: number; readonly name: string };
  /** If set, values are indices into this list, each with its own colour, instead of the map. */
  readonly categories?: readonly Category[];
  /** Whether low values matter most: then they have the bright end of the map. */
  readonly isReversed?: boolean;
  /** float32[V] of a state. @param name of the state, if it is a named one */
  valuesOf(state: ArrayLike<number>, name: StateName | undefined): Float32Array<ArrayBuffer>;
}

export type FieldId = 'distance' | 'stretch' | 'holds' | 'gap' | 'residual' | 'moved' | 'intersections' | 'regions';

export interface Category {
  readonly label: string;
  readonly colour: Colour;
}

/** By the number in the contract's enum Hold; the darker, the more a category has to do with contacts. */
const HOLDS: readonly Category[] = [
  { label: 'unknown', colour: hex('#808080') },
  { label: 'at its target', colour: hex('#dfe3ea') },
  { label: 'a contact', colour: hex('#c2361c') },
  { label: 'an edge at its limit', colour: hex('#e8a13a') },
  { label: 'the time budget', colour: hex('#6a3fb5') },
  { label: 'the step limit', colour: hex('#9a6fe0') },
  { label: 'a pair farther off', colour: hex('#2456b8') },
  { label: 'too little to gain', colour: hex('#79b4e8') },
];

/** The fields that a study has data for. @param edges uint32[2·E] of its mesh */
export function fieldsOf(study: Study, edges: Uint32Array): Field[] {
  const { mesh, start, target, answer, checks } = study;
  const { vertexCount } = mesh;
  const nothing = () => new Float32Array(vertexCount).fill(Number.NaN);
  const fields: Field[] = [];
  if (target) {
    fields.push({
      id: 'distance',
      label: 'Distance to target',
      explanation: 'How far each vertex is from its target.',
      quantity: 'length',
      low: 0,
      valuesOf: (state) => distances(state, target),
    });
    if (edges.length > 0) {
      const limit = answer?.report.resolved.stretchLimit ?? 0;
      let lengths: Float64Array | undefined;
      fields.push({
        id: 'stretch',
        label: 'Stretch',
        explanation: `The longest edge at each vertex, against its length ${comparedLength(mesh)}.`,
        quantity: 'ratio',
        low: 1,
        ...(limit > 0 ? { mark: { value: limit, name: 'σ' } } : {}),
        valuesOf: (state) => {
          lengths ??= edgeLengths(edges, mesh.restLengths?.positions ?? target);
          return stretches(state, lengths, edges, vertexCount);
        },
      });
    }
  }
  const { untangled } = study;
  if (untangled) {
    const categories = categoriesOf(untangled);
    fields.push({
      id: 'regions',
      label: 'Regions',
      explanation: 'The vertices that were on a wrong side, by contour.',
      quantity: 'count',
      low: 0,
      states: ['start', 'answer'],
      categories,
      valuesOf: (_, name) => (name === 'start' || name === 'answer' ? regionsOf(untangled, categories) : nothing()),
    });
  }
  const holds = answer?.reasons?.holds;
  if (holds) {
    fields.push({
      id: 'holds',
      label: 'What holds it',
      explanation: 'What prevents each vertex from moving on to its target.',
      quantity: 'count',
      low: 0,
      states: ['answer'],
      categories: HOLDS,
      valuesOf: (_, name) => (name === 'answer' ? Float32Array.from(holds) : nothing()),
    });
  }
  const contacts = answer?.contacts;
  if (contacts) {
    fields.push({
      id: 'gap',
      label: 'Gap',
      explanation: 'The distance to the nearest other element, if one is near.',
      quantity: 'length',
      low: 0,
      states: ['answer'],
      isReversed: true,
      valuesOf: (_, name) => (name === 'answer' ? gaps(contacts, vertexCount) : nothing()),
    });
  }
  const counted = { start: checks.start?.intersections, target: checks.target?.intersections };
  if (checks.target || checks.start) {
    fields.push({
      id: 'intersections',
      label: 'Intersections',
      explanation: 'In how many intersecting pairs each vertex is, as the service found them.',
      quantity: 'count',
      low: 0,
      states: ['start', 'target', 'answer'],
      valuesOf: (_, name) => {
        if (name === undefined) return nothing();
        return counts(
          name === 'answer' ? (answer?.report.intersectingPairs ?? []) : (counted[name] ?? []),
          vertexCount,
        );
      },
    });
  }
  const residual = answer?.vertices?.residual;
  if (residual) {
    fields.push({
      id: 'residual',
      label: 'Residual',
      explanation: 'The share of its motion that each vertex has not been granted.',
      quantity: 'share',
      low: 0,
      states: ['answer'],
      valuesOf: (_, name) => (name === 'answer' ? Float32Array.from(residual) : nothing()),
    });
  }
  if (target || study.certificate || untangled) {
    fields.push({
      id: 'moved',
      label: 'Moved',
      explanation: 'How far each vertex is from its start.',
      quantity: 'length',
      low: 0,
      valuesOf: (state) => distances(state, start),
    });
  }
  return fields;
}

/** Colours of contours, which repeat if there are more of them; the last but one is that of later contours. */
function categoriesOf({ report }: UntangledState): Category[] {
  const listed = report.contours.slice(0, LISTED_CONTOURS);
  const own = listed.map(({ id }, i) => ({
    label: `contour ${id}`,
    colour: BODY_COLOURS[(2 * i) % BODY_COLOURS.length]!,
  }));
  return [
    ...own,
    { label: 'other contours', colour: hex('#8a5a12') },
    { label: 'not on a wrong side', colour: hex('#c9ced8') },
  ];
}

/** Contours with a colour of their own. */
const LISTED_CONTOURS = 6;

/** Returns float32[V]: the index of the category of each vertex. */
function regionsOf({ regions, report }: UntangledState, { length }: readonly Category[]): Float32Array<ArrayBuffer> {
  const [none, other] = [length - 1, length - 2];
  const places = new Map(report.contours.slice(0, LISTED_CONTOURS).map(({ id }, i) => [id, i]));
  return Float32Array.from(regions, (id) => (id === NO_REGION ? none : (places.get(id) ?? other)));
}

/** float32[V] */
export function distances(state: ArrayLike<number>, from: Positions): Float32Array<ArrayBuffer> {
  const values = new Float32Array(from.length / 3);
  for (let v = 0, i = 0; v < values.length; v++, i += 3) {
    const [x, y, z] = [state[i]! - from[i]!, state[i + 1]! - from[i + 1]!, state[i + 2]! - from[i + 2]!];
    values[v] = Math.sqrt(x * x + y * y + z * z);
  }
  return values;
}

/**
 * Returns float32[V]: the largest ratio among the edges of each vertex; NaN for a vertex without edges, or whose edges
 * have length 0.
 *
 * @param lengths float64[E] of the edges in the target
 */
export function stretches(
  state: ArrayLike<number>,
  lengths: Float64Array,
  edges: Uint32Array,
  vertexCount: number,
): Float32Array<ArrayBuffer> {
  const values = new Float32Array(vertexCount).fill(Number.NaN);
  for (let e = 0; 2 * e < edges.length; e++) {
    const wanted = lengths[e]!;
    if (wanted === 0) continue;
    const ratio = edgeLength(edges, e, state) / wanted;
    for (let k = 2 * e; k < 2 * e + 2; k++) {
      const v = edges[k]!;
      // Also true if there is no value yet.
      if (!(values[v]! >= ratio)) values[v] = ratio;
    }
  }
  return values;
}

interface GapsOf {
  readonly vertices: Uint32Array;
  readonly weights: Float32Array;
  readonly distances: Float32Array;
}

/** Returns float32[V]: the smallest distance among the contacts in which a vertex has a weight; NaN without any. */
export function gaps({ vertices, weights, distances: gap }: GapsOf, vertexCount: number): Float32Array<ArrayBuffer> {
  const values = new Float32Array(vertexCount).fill(Number.NaN);
  for (let k = 0; k < vertices.length; k++) {
    const v = vertices[k]!;
    if (v >= vertexCount || weights[k] === 0) continue;
    const distance = gap[k >> 2]!;
    if (!(values[v]! <= distance)) values[v] = distance;
  }
  return values;
}

/** Returns float32[V]: the number of pairs that each vertex is in; NaN for none. */
export function counts(pairs: readonly ElementPair[], vertexCount: number): Float32Array<ArrayBuffer> {
  const values = new Float32Array(vertexCount).fill(Number.NaN);
  for (const { a, b } of pairs) {
    for (const v of [...a, ...b]) values[v] = (Number.isNaN(values[v]!) ? 0 : values[v]!) + 1;
  }
  return values;
}

/** Lowest and highest value; undefined if there is none. */
export function rangeOf(values: Float32Array): { readonly low: number; readonly high: number } | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? { low, high } : undefined;
}
