import { findHinges, QuadraticBending } from './bending.js';
import { ElasticElements } from './elements.js';
import type { Force } from './force.js';
import { CoRotational, lameOfMembrane, lameOfSolid, StVenantKirchhoff } from './materials.js';
import type { MeshArrays, Model, Part } from './model.js';
import { Springs } from './springs.js';

export type Vec = readonly [number, number, number];

/** Vertices and elements of a body; ids count from 0 within the body. */
export interface Geometry {
  /** float64[3·V], m: initial positions */
  readonly positions: Float64Array;
  /** float64[3·V], m: the shape without strain, if it is another one */
  readonly rest?: Float64Array;
  readonly triangles?: Uint32Array;
  readonly segments?: Uint32Array;
  readonly particles?: Uint32Array;
  readonly tetrahedra?: Uint32Array;
}

export interface Cloth {
  readonly kind: 'cloth';
  /** kg/m² */
  readonly density: number;
  /** Young's modulus × thickness, N/m */
  readonly stretching: number;
  readonly poisson: number;
  /** N·m */
  readonly bending: number;
  /** default 'co-rotational' */
  readonly model?: 'co-rotational' | 'stvk';
  /** least and largest principal stretch that the service permits for an element; default: none */
  readonly strainLimits?: readonly [number, number];
}

export interface Solid {
  readonly kind: 'solid';
  /** kg/m³ */
  readonly density: number;
  /** Pa */
  readonly young: number;
  readonly poisson: number;
  /** default 'stvk' */
  readonly model?: 'co-rotational' | 'stvk';
}

export interface Strands {
  readonly kind: 'strands';
  /** kg/m */
  readonly density: number;
  /** N, of the springs along segments */
  readonly stretching: number;
  /** N, of the springs from each vertex to the second next */
  readonly bending: number;
}

export interface Grains {
  readonly kind: 'grains';
  /** kg of each */
  readonly mass: number;
}

/** Not simulated: its vertices follow its motion. */
export interface Obstacle {
  readonly kind: 'obstacle';
}

export type Material = Cloth | Solid | Strands | Grains | Obstacle;

/** Position of a kinematic vertex at a time; undefined motion means at rest. @param start its position at time 0 */
export type Motion = (start: Vec, time: number) => Vec;

export interface Body {
  readonly name: string;
  readonly geometry: Geometry;
  readonly material: Material;
  /** of an obstacle, or of the pins */
  readonly motion?: Motion;
  /** ids of vertices that are held, or moved by `motion` */
  readonly pins?: Iterable<number>;
  /** m/s, everywhere or by vertex */
  readonly velocity?: Vec | ((position: Vec) => Vec);
}

/** m/s² */
export const EARTH: Vec = [0, 0, -9.81];

/**
 * Mass of vertices that are kinematic or belong to no element; its value does not matter, but the service needs a
 * positive number.
 */
const UNIT_MASS = 1;

const NO_IDS = new Uint32Array(0);

/** Combines bodies, in order. */
export function assemble(bodies: readonly Body[], gravity: Vec = EARTH): Model {
  const counts = bodies.map(({ geometry }) => geometry.positions.length / 3);
  const firsts = counts.map((_, b) => counts.slice(0, b).reduce((sum, count) => sum + count, 0));
  const vertexCount = counts.reduce((sum, count) => sum + count, 0);
  const start = new Float64Array(3 * vertexCount);
  const rest = new Float64Array(3 * vertexCount);
  const startVelocity = new Float64Array(3 * vertexCount);
  const masses = new Float64Array(vertexCount);
  const isKinematic = new Uint8Array(vertexCount);
  const forces: Force[] = [];
  const moved: { readonly ids: Uint32Array; readonly motion: Motion }[] = [];
  bodies.forEach((body, b) => {
    const first = firsts[b]!;
    const { geometry, material, velocity } = body;
    start.set(geometry.positions, 3 * first);
    rest.set(geometry.rest ?? geometry.positions, 3 * first);
    const all = Uint32Array.from({ length: counts[b]! }, (_, i) => first + i);
    const held = material.kind === 'obstacle' ? all : Uint32Array.from(body.pins ?? [], (id) => first + id);
    for (const id of held) isKinematic[id] = 1;
    if (body.motion) moved.push({ ids: held, motion: body.motion });
    forces.push(...forcesOf(body, first, rest));
    addMasses(body, first, rest, masses);
    if (velocity) {
      for (const id of all) {
        if (!isKinematic[id])
          startVelocity.set(typeof velocity === 'function' ? velocity(at(start, id)) : velocity, 3 * id);
      }
    }
  });
  for (let v = 0; v < vertexCount; v++) if (!(masses[v]! > 0)) masses[v] = UNIT_MASS;
  return {
    vertexCount,
    mesh: joinElements(bodies, firsts),
    parts: bodies.map(({ name, material }, b): Part => {
      const limits = limitsOf(material);
      return {
        ...{ name, firstVertex: firsts[b]!, vertexCount: counts[b]! },
        ...(limits ? { strainMin: limits[0], strainMax: limits[1] } : {}),
      };
    }),
    start,
    ...(bodies.some(({ material }) => limitsOf(material)) ? { limitedRest: rest } : {}),
    startVelocity,
    masses,
    inverseMasses: masses.map((mass, v) => (isKinematic[v] ? 0 : 1 / mass)),
    isKinematic,
    forces,
    gravity,
    prescribe(time, positions) {
      for (let v = 0; v < vertexCount; v++) {
        if (isKinematic[v]) positions.set(start.subarray(3 * v, 3 * v + 3), 3 * v);
      }
      for (const { ids, motion } of moved) for (const id of ids) positions.set(motion(at(start, id), time), 3 * id);
    },
  };
}

const limitsOf = (material: Material): readonly [number, number] | undefined =>
  material.kind === 'cloth' ? material.strainLimits : undefined;

const at = (x: Float64Array, v: number): Vec => [x[3 * v]!, x[3 * v + 1]!, x[3 * v + 2]!];

const shift = (ids: Uint32Array | undefined, by: number): Uint32Array => (ids ?? NO_IDS).map((id) => id + by);

function joinElements(bodies: readonly Body[], firsts: readonly number[]): MeshArrays {
  const join = (kind: keyof MeshArrays): Uint32Array => {
    const parts = bodies.map(({ geometry }, b) => shift(geometry[kind], firsts[b]!));
    const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let used = 0;
    for (const part of parts) {
      all.set(part, used);
      used += part.length;
    }
    return all;
  };
  return {
    triangles: join('triangles'),
    segments: join('segments'),
    particles: join('particles'),
    tetrahedra: join('tetrahedra'),
  };
}

function forcesOf({ geometry, material }: Body, first: number, rest: Float64Array): Force[] {
  switch (material.kind) {
    case 'cloth': {
      const triangles = shift(geometry.triangles, first);
      const lame = lameOfMembrane(material.stretching, material.poisson);
      const membrane = material.model === 'stvk' ? new StVenantKirchhoff(lame) : new CoRotational(lame);
      const forces: Force[] = [new ElasticElements(2, triangles, rest, membrane)];
      if (material.bending > 0) forces.push(new QuadraticBending(findHinges(triangles), rest, material.bending));
      return forces;
    }
    case 'solid': {
      const lame = lameOfSolid(material.young, material.poisson);
      const solid = material.model === 'co-rotational' ? new CoRotational(lame) : new StVenantKirchhoff(lame);
      return [new ElasticElements(3, shift(geometry.tetrahedra, first), rest, solid)];
    }
    case 'strands': {
      const segments = shift(geometry.segments, first);
      return [
        new Springs(segments, rest, material.stretching),
        new Springs(findSecondNeighbours(segments), rest, material.bending),
      ];
    }
    default:
      return [];
  }
}

/** Returns the ends of every two segments, the second of which begins where the first ends. */
function findSecondNeighbours(segments: Uint32Array): Uint32Array {
  const next = new Map<number, number>();
  for (let i = 0; i < segments.length; i += 2) next.set(segments[i]!, segments[i + 1]!);
  const found: number[] = [];
  for (const [from, middle] of next) {
    const to = next.get(middle);
    if (to !== undefined && to !== from) found.push(from, to);
  }
  return Uint32Array.from(found);
}

/** Adds to every vertex its share of the mass of its elements. */
function addMasses({ geometry, material }: Body, first: number, rest: Float64Array, masses: Float64Array): void {
  const spread = (ids: Uint32Array, corners: number, massOfElement: (element: Uint32Array) => number): void => {
    for (let i = 0; i < ids.length; i += corners) {
      const element = ids.subarray(i, i + corners).map((id) => id + first);
      const share = massOfElement(element) / corners;
      for (const id of element) masses[id]! += share;
    }
  };
  const edges = (element: Uint32Array): Vec[] => {
    const origin = at(rest, element[0]!);
    return Array.from(
      element.subarray(1),
      (id) => at(rest, id).map((value, c) => value - origin[c]!) as unknown as Vec,
    );
  };
  switch (material.kind) {
    case 'cloth':
      spread(geometry.triangles ?? NO_IDS, 3, (element) => {
        const [u, v] = edges(element) as [Vec, Vec];
        return (material.density * Math.hypot(...cross(u, v))) / 2;
      });
      break;
    case 'solid':
      spread(geometry.tetrahedra ?? NO_IDS, 4, (element) => {
        const [u, v, w] = edges(element) as [Vec, Vec, Vec];
        const c = cross(u, v);
        return (material.density * Math.abs(c[0] * w[0] + c[1] * w[1] + c[2] * w[2])) / 6;
      });
      break;
    case 'strands':
      spread(geometry.segments ?? NO_IDS, 2, (element) => material.density * Math.hypot(...edges(element)[0]!));
      break;
    case 'grains':
      spread(geometry.particles ?? NO_IDS, 1, () => material.mass);
      break;
    default:
  }
}

const cross = (u: Vec, v: Vec): Vec => [
  u[1] * v[2] - u[2] * v[1],
  u[2] * v[0] - u[0] * v[2],
  u[0] * v[1] - u[1] * v[0],
];
