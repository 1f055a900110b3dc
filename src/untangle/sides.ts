import type { ContourReason, LayerSide } from '../contract/untangle.js';
import type { Contour, Role } from './contours.js';
import { type Crossing, type CutEnd, type Label, sheetOf } from './crossings.js';
import type { Layering } from './layering.js';
import { narrowSides } from './narrow.js';
import { Patches, type Separation, separate } from './patches.js';
import type { Pulse } from './pulse.js';
import { rowOf, type Topology } from './topology.js';
import type { TurnedRegions } from './turned.js';

/** The information that decides sides, besides the state itself. */
export interface Guidance {
  readonly layers: readonly { readonly inner: number; readonly outer: number; readonly side: LayerSide }[];
  /** contours whose decision is reversed */
  readonly turned: ReadonlySet<number>;
  /** the regions of such contours in earlier iterations, whose sides later contours keep */
  readonly turnedRegions: TurnedRegions;
  /** uint8[V] 1 = the vertex was on a wrong side in the last iteration; guesses keep that decision */
  readonly wasWrong: Uint8Array;
  /** float64[V] share of the surface of each vertex */
  readonly areas: Float64Array;
  readonly layering: Layering;
  readonly edgesOf: (sheet: number) => readonly number[];
  /** by sheet: the side of the (consistently oriented) triangles of a body on which its outside lies */
  readonly outsides: ReadonlyMap<number, Label | 0>;
}

/**
 * By role: the label of the side on which the sheet belongs; 0 = no part of this sheet is wrong, or its side is not
 * known.
 */
export type RightSides = readonly [Label | 0, Label | 0];

export interface Decision {
  readonly right: RightSides;
  readonly why: ContourReason;
  /** 0.5 to 1 */
  readonly confidence: number;
  readonly isTurned: boolean;
  /** it keeps the side of a contour that was reversed in an earlier iteration */
  readonly isKept: boolean;
  readonly separations: readonly [Separation, Separation];
  readonly patches: Patches;
}

/**
 * What is kept of a decision: the patches of a crossing have an entry for every vertex of the mesh, and where many small
 * sheets meet there may be as many crossings as sheets.
 */
export type KeptDecision = Omit<Decision, 'patches'>;

const ROLES = [0, 1] as const;

/**
 * If the mean product of the normals along a contour is below this, they do not tell which sheet lies above the other.
 */
const PARALLEL = 0.3;

/**
 * A side is wrong again if, in the last iteration, its share of wrong cut ends exceeded that of the other side by this.
 */
const STICKY = 0.5;

/**
 * Decides, for every contour of a crossing, on which side its sheets belong.
 *
 * @param x float64[3·V]
 * @param pulse called at short intervals; may throw
 */
export function decideSides(
  topology: Topology,
  x: Float64Array,
  contours: readonly Contour[],
  crossing: Crossing,
  guidance: Guidance,
  pulse: Pulse = () => {},
): Map<number, Decision> {
  const patches = new Patches(topology, crossing, guidance.edgesOf, guidance.areas, pulse);
  const separations = new Map(
    crossing.contours.map((c) => {
      pulse();
      const ends = crossing.ends.get(c)!;
      const both = ROLES.map((role) => separate(patches, ends[role], crossing.cut)) as [Separation, Separation];
      return [c, both] as const;
    }),
  );
  const colours = new Colours(patches, [...separations.values()].flat());
  const decisions = new Map<number, Decision>();
  const isOneSheet = crossing.sheets[0] === crossing.sheets[1];
  for (const c of crossing.contours) {
    pulse();
    const both = separations.get(c)!;
    const contour = contours[c]!;
    const told = toldSides(topology, x, contour, guidance, both, colours);
    const kept = told?.why === 'BODY' ? undefined : keptSides(topology, x, contour, crossing, c, guidance);
    const guess = kept ?? told ?? guessSides(topology, x, contour, crossing, c, both, colours, guidance, pulse);
    // Contours with connected patches are reversed together, because sheets cannot lie on both sides of each other.
    const isTurned =
      guess.why !== 'BODY' &&
      [...guidance.turned].some(
        (t) => t === c || (!isOneSheet && separations.has(t) && colours.hangTogether(separations.get(t)!, both)),
      );
    const right = isTurned ? ([-guess.right[0], -guess.right[1]] as unknown as RightSides) : guess.right;
    decisions.set(c, {
      ...guess,
      ...(isTurned ? { right, why: 'HINT' as const, confidence: 1 } : {}),
      isTurned,
      isKept: kept !== undefined,
      separations: both,
      patches,
    });
  }
  return decisions;
}

interface Guess {
  readonly right: RightSides;
  readonly why: ContourReason;
  readonly confidence: number;
}

/** Returns the decision of bodies and hints. */
function toldSides(
  topology: Topology,
  x: Float64Array,
  contour: Contour,
  { layers, outsides }: Guidance,
  both: readonly [Separation, Separation],
  colours: Colours,
): Guess | undefined {
  for (const role of ROLES) {
    const body = sheetOf(topology, contour, (1 - role) as Role);
    const outward = outsides.get(body) ?? 0;
    if (outward === 0) continue;
    // A body with holes has no well-defined inside, so it decides only if it calls the smaller part wrong.
    const isWhole = topology.sheets.get(body)!.openShare === 0;
    if (!isWhole && both[role].isWhole && colours.larger(both[role]).right !== outward) return undefined;
    // The smaller part of the body pokes through the sheet. If no part is cut off, a sheet that lies along the body
    // lies above it.
    const own = both[1 - role]!;
    const poking = own.isWhole ? colours.larger(own).right : -outward * relationOf(topology, x, contour);
    return {
      right: (role === 0 ? [outward, poking] : [poking, outward]) as unknown as RightSides,
      why: 'BODY',
      confidence: isWhole ? 1 : 0.9,
    };
  }
  const { partOfVertex } = topology.mesh;
  if (partOfVertex.length === 0 || layers.length === 0) return undefined;
  const parts = ROLES.map((role) => partOf(topology, contour, role));
  for (const { inner, outer, side } of layers) {
    const role = ROLES.find((r) => parts[r] === outer && parts[1 - r] === inner);
    if (role === undefined) continue;
    const above = (side === 'ALONG_NORMALS' ? 1 : -1) * turnAlong(topology, contour, (1 - role) as Role);
    if (above === 0) continue;
    return { right: sidesUpon(role, above as Label, relationOf(topology, x, contour)), why: 'HINT', confidence: 1 };
  }
  return undefined;
}

/** Returns the sides of a reversed contour that this one continues. Of a sheet with itself, the roles are not known. */
function keptSides(
  topology: Topology,
  x: Float64Array,
  contour: Contour,
  crossing: Crossing,
  c: number,
  { turnedRegions }: Guidance,
): Guess | undefined {
  if (crossing.sheets[0] === crossing.sheets[1]) return undefined;
  const ends = crossing.ends.get(c)!;
  const sheets = ROLES.map((role) => sheetOf(topology, contour, role));
  const [a, b] = ROLES.map((role) => turnedRegions.sideOf(sheets[role]!, sheets[1 - role]!, ends[role]));
  if (!a && !b) return undefined;
  const relation = relationOf(topology, x, contour);
  const right: RightSides = a && b ? [a, b] : a ? sidesUpon(0, a, relation) : sidesUpon(1, b as Label, relation);
  return { right, why: 'HINT', confidence: 1 };
}

function guessSides(
  topology: Topology,
  x: Float64Array,
  contour: Contour,
  crossing: Crossing,
  c: number,
  both: readonly [Separation, Separation],
  colours: Colours,
  { wasWrong, areas, layering }: Guidance,
  pulse: Pulse,
): Guess {
  const { ends, cut, sheets } = crossing;
  const relation = relationOf(topology, x, contour);
  const layered = layering.of(sheets, x);
  // If the sheets cross steeply, the parts that are cut off decide, not which sheet lies above, if both are cut, or if
  // no part of the sheet that lies above is on its wrong side: the other one pokes through it.
  const isPoking = relation === 0 && ((both[0].isWhole && both[1].isWhole) || layered?.confidence === 1);
  if (layered && !isPoking) {
    const upper = ROLES.find((role) => sheetOf(topology, contour, role) === layered.upper)!;
    return { right: sidesUpon(upper, layered.side, relation), why: 'SMALLER', confidence: layered.confidence };
  }
  const isOneSheet = sheets[0] === sheets[1];
  if (isOneSheet) {
    const narrow = narrowSides(topology, crossing, c, contour.pierces.length, areas, relation, pulse);
    if (narrow) return { ...narrow, why: 'SMALLER' };
  }
  const guesses = ROLES.map((role) => {
    if (!both[role].isWhole) return { ...uncutSide(ends.get(c)![role], cut), isKept: false };
    const kept = shareOf(ends.get(c)![role], 1, wasWrong) - shareOf(ends.get(c)![role], -1, wasWrong);
    if (Math.abs(kept) > STICKY) return { right: -Math.sign(kept) as Label, confidence: 0.9, isKept: true };
    return { ...colours.larger(both[role]), isKept: false };
  });
  const [a, b] = guesses as [(typeof guesses)[0], (typeof guesses)[0]];
  const confidence = Math.max(a.confidence, b.confidence);
  const why = both[0].isWhole || both[1].isWhole ? 'SMALLER' : 'COST';
  if (a.right === 0 || b.right === 0 || isOneSheet) return { right: [a.right, b.right], why, confidence };
  // If the sheets are nearly parallel, one lies above the other exactly if the other lies below it.
  if (relation === 0 || a.right === -b.right * relation) return { right: [a.right, b.right], why, confidence };
  const isFirst = a.isKept === b.isKept ? a.confidence >= b.confidence : a.isKept;
  const right = isFirst ? sidesUpon(0, a.right, relation) : sidesUpon(1, b.right, relation);
  return { right, why, confidence };
}

/**
 * The sheet of a role lies on this side of the other sheet. If both are nearly parallel, this also decides on which
 * side of it the other sheet lies.
 */
function sidesUpon(role: Role, side: Label, relation: Label | 0): RightSides {
  const below = (-side * relation) as Label | 0;
  return role === 0 ? [side, below] : [below, side];
}

/** If no edge has ends on different sides, all ends are on the right side. */
function uncutSide(ends: readonly CutEnd[], cut: ReadonlySet<number>): { right: Label | 0; confidence: number } {
  if (ends.some(({ edge }) => cut.has(edge))) return { right: 0, confidence: 0.5 };
  return { right: Math.sign(ends.reduce((sum, { label }) => sum + label, 0)) as Label | 0, confidence: 0.9 };
}

/** Returns the share of the ends with a label that are marked. */
function shareOf(ends: readonly CutEnd[], label: Label, marks: Uint8Array): number {
  let [count, marked] = [0, 0];
  for (const end of ends) {
    if (end.label !== label) continue;
    count++;
    marked += marks[end.vertex];
  }
  return count > 0 ? marked / count : 0;
}

/**
 * Patches in two colours, such that every contour separates different colours. Of each connected cluster one colour is
 * wrong.
 */
class Colours {
  readonly #patches: Patches;
  /** by patch: its cluster, and 1 or −1 */
  readonly #cluster = new Map<number, number>();
  readonly #colour = new Map<number, Label>();
  /** by cluster: area of the colours 1 and −1 */
  readonly #area = new Map<number, { plus: number; minus: number }>();

  constructor(patches: Patches, separations: readonly Separation[]) {
    this.#patches = patches;
    const next = new Map<number, Set<number>>();
    for (const { patches: sides, isWhole } of separations) {
      if (!isWhole) continue;
      for (const p of sides.get(1)!) {
        for (const q of sides.get(-1)!) {
          for (const [from, to] of [[p, q] as const, [q, p] as const]) {
            const known = next.get(from);
            if (known) known.add(to);
            else next.set(from, new Set([to]));
          }
        }
      }
    }
    for (const seed of next.keys()) if (!this.#cluster.has(seed)) this.#spread(seed, next);
  }

  #spread(seed: number, next: ReadonlyMap<number, ReadonlySet<number>>): void {
    const area = { plus: 0, minus: 0 };
    this.#area.set(seed, area);
    this.#cluster.set(seed, seed);
    this.#colour.set(seed, 1);
    const queue = [seed];
    for (let p = queue.pop(); p !== undefined; p = queue.pop()) {
      const colour = this.#colour.get(p)!;
      if (colour > 0) area.plus += this.#patches.area(p);
      else area.minus += this.#patches.area(p);
      for (const q of next.get(p)!) {
        if (this.#cluster.has(q)) continue;
        this.#cluster.set(q, seed);
        this.#colour.set(q, -colour as Label);
        queue.push(q);
      }
    }
  }

  /** Returns the side of a contour with the colour of the larger area. */
  larger({ patches }: Separation): { right: Label; confidence: number } {
    const [patch] = patches.get(1)!.length > 0 ? patches.get(1)! : patches.get(-1)!;
    const label: Label = patches.get(1)!.length > 0 ? 1 : -1;
    const cluster = patch === undefined ? undefined : this.#cluster.get(patch);
    if (patch === undefined || cluster === undefined) return { right: 1, confidence: 0.5 };
    const { plus, minus } = this.#area.get(cluster)!;
    const isLarger = this.#colour.get(patch)! > 0 ? plus >= minus : minus > plus;
    const [most, least] = [Math.max(plus, minus), Math.min(plus, minus)];
    return { right: (isLarger ? label : -label) as Label, confidence: most > 0 ? 1 - least / (most + least) : 0.5 };
  }

  /** Whether patches of one contour are connected with patches of the other. */
  hangTogether(one: readonly Separation[], other: readonly Separation[]): boolean {
    const clusters = (of: readonly Separation[]) =>
      new Set(of.flatMap(({ patches }) => [...patches.values()].flat().map((p) => this.#cluster.get(p))));
    const known = clusters(other);
    return [...clusters(one)].some((cluster) => cluster !== undefined && known.has(cluster));
  }
}

/** Returns the part that contains most vertices of a role's sheet along a contour; −1 = none. */
export function partOf({ mesh }: Topology, { pierces, roles }: Contour, role: Role): number {
  const { edges, triangles, partOfVertex } = mesh;
  if (partOfVertex.length === 0) return -1;
  const votes = new Map<number, number>();
  pierces.forEach(({ edge, triangle }, n) => {
    const corners =
      roles[n] === role ? edges.subarray(2 * edge, 2 * edge + 2) : triangles.subarray(3 * triangle, 3 * triangle + 3);
    for (const v of corners) votes.set(partOfVertex[v], (votes.get(partOfVertex[v]) ?? 0) + 1 / corners.length);
  });
  return [...votes].reduce((best, vote) => (vote[1] > best[1] ? vote : best), [-1, 0] as [number, number])[0];
}

/** 1 or −1: the orientation of most triangles of a role's sheet along a contour. */
export function turnAlong(topology: Topology, contour: Contour, role: Role): number {
  let sum = 0;
  forEachTriangle(topology, contour, role, (t) => {
    sum += topology.turn[t];
  });
  return Math.sign(sum);
}

/**
 * Whether the (consistently oriented) normals of two nearly parallel sheets have the same direction (1) or opposite
 * ones (−1) along a contour. 0 = the sheets are not nearly parallel, and their normals do not tell which one lies above
 * the other.
 */
function relationOf(topology: Topology, x: Float64Array, contour: Contour): Label | 0 {
  let product = 0;
  let count = 0;
  contour.pierces.forEach(({ edge, triangle }) => {
    const n = normalOf(topology, x, triangle);
    for (const f of rowOf(topology.trianglesOfEdge, edge)) {
      const m = normalOf(topology, x, f);
      product += n[0] * m[0] + n[1] * m[1] + n[2] * m[2];
      count++;
    }
  });
  return Math.abs(product) < PARALLEL * count ? 0 : (Math.sign(product) as Label | 0);
}

function forEachTriangle(
  { trianglesOfEdge }: Topology,
  { pierces, roles }: Contour,
  role: Role,
  visit: (triangle: number) => void,
): void {
  pierces.forEach(({ edge, triangle }, n) => {
    if (roles[n] !== role) visit(triangle);
    else for (const t of rowOf(trianglesOfEdge, edge)) visit(t);
  });
}

/** Unit normal of a triangle with its consistent orientation; 0 for a triangle without area. */
export function normalOf(
  { mesh: { triangles }, turn }: Topology,
  x: Float64Array,
  t: number,
): [number, number, number] {
  const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
  const [ux, uy, uz] = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]];
  const [vx, vy, vz] = [x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]];
  const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
  const size = Math.hypot(nx, ny, nz);
  const scale = size > 0 ? turn[t] / size : 0;
  return [nx * scale, ny * scale, nz * scale];
}
