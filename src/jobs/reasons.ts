import type { Positions } from '../contract/mesh.js';
import { HOLDS, type Hold, type Reasons } from '../contract/path.js';
import type { Contacts } from '../contract/report.js';
import { type EdgeList, edgesUnder } from '../mesh/limited-edges.js';
import type { EngineHolds, Resolution } from '../solver/engine.js';
import { distancesByVertex, pairActivationDistance } from '../solver/part-distances.js';
import {
  deltasOf,
  edgeOf,
  HeldBy,
  holdingLimit,
  MIN_CLOSING,
  nearTarget,
  offerEdges,
  waysOf,
} from './holding-edges.js';
import { type PairList, PairLookup } from './pair-lookup.js';
import type { PreparedStep } from './prepare-step.js';

/** A contact holds a vertex while its gap is within this many δ: those of FAST rest at δ, up to rounding. */
const HOLDING_GAP = 1.05;

/** Stands for no pair. */
export const NO_PAIR = 0xffffffff;

const VERTEX_VERTEX = 4;

/** The distance up to which {@link explain} needs the contacts of an answer, in the caller's unit. */
export function reachOfReasons({ mesh, parameters }: PreparedStep): number {
  return HOLDING_GAP * deltasOf(mesh, parameters).largest;
}

/** The facts from which the reasons of an answer follow. */
export interface Explained {
  readonly answer: Positions;
  /** of the answer, at least up to {@link reachOfReasons} */
  readonly contacts: Contacts;
  readonly resolution: Pick<Resolution, 'status' | 'residuals' | 'holds'>;
  /** the step that ended in the answer; later records belong to discarded states */
  readonly lastStep: number;
  /** whether the motion of a vertex was cut, because its target, or one that it moves with, lies where numbers are too coarse */
  readonly isCut: (v: number) => boolean;
}

/**
 * The reason for the place of every vertex. From the answer alone, with d the remaining way to the target of v:
 *
 * - a contact holds vertex v if its gap is within the δ of its pair, v has a weight w > 0 in it, and d would close it:
 *   with its normal n towards the side of v, cos = −n·d/|d| > 0. Of several contacts the one with the largest w·cos
 *   holds most;
 * - an edge v u holds a dynamic vertex if the edge is at its limit and d would lengthen it.
 *
 * If the engine has recorded the pair that held the vertex last, and that pair is among those contacts, it is the
 * reason. Where neither a contact nor an edge holds a vertex, the reason follows from how the run ended.
 */
export function explain(step: PreparedStep, explained: Explained): Reasons {
  const { mesh, parameters, images } = step;
  const { answer, contacts, resolution, lastStep, isCut } = explained;
  const { status, residuals, holds: engine } = resolution;
  const { target } = images;
  const { vertexCount } = mesh;
  const near = nearTarget(mesh, parameters);
  const ways = waysOf(answer, target);
  const best = new HeldBy(vertexCount);
  const isNear = withinDelta(step, contacts);
  offerContacts(best, contacts, isNear, ways);
  const recorded = engine && recordedContacts(engine, contacts, isNear, vertexCount, ways);
  const found = new FoundPairs(contacts);
  const edges = new HeldBy(vertexCount);
  const list = edgesUnder(parameters.quality, mesh);
  const sigma = holdingLimit(parameters);
  if (sigma > 0) offerEdges(edges, { lists: list, kinematic: mesh.kinematic }, answer, target, ways, sigma);

  const reasons = {
    holds: new Uint8Array(vertexCount),
    pairs: new Uint32Array(vertexCount).fill(NO_PAIR),
    since: new Uint32Array(vertexCount),
  };
  for (let v = 0; v < vertexCount; v++) {
    let hold: Hold = ended(status, residuals[v]!, parameters.residualTolerance);
    const contact = recorded && recorded[v]! >= 0 ? recorded[v]! : best.by[v]!;
    if (ways[4 * v + 3]! <= near) hold = 'REACHED';
    else if (isCut(v)) hold = 'OUT_OF_RANGE';
    else if (contact >= 0) {
      hold = 'CONTACT';
      reasons.pairs[v] = found.addContact(contact);
      const since = recorded && contact === recorded[v] ? engine.since[v]! : 0;
      reasons.since[v] = since <= lastStep ? since : 0;
    } else if (edges.by[v]! >= 0) {
      hold = 'EDGE';
      reasons.pairs[v] = found.addEdge(edges.by[v]!, list, answer);
    }
    reasons.holds[v] = HOLDS.indexOf(hold);
  }
  return { ...reasons, ...found.list() };
}

/** What ended the motion of a vertex that neither a contact nor an edge holds. @param residual r of Eq. 17 */
function ended(status: Resolution['status'], residual: number, epsilon: number): Hold {
  if (residual < epsilon || status === 'CONVERGED') return 'SETTLED';
  return status === 'DEADLINE' ? 'OUT_OF_TIME' : status === 'STEP_LIMIT' ? 'OUT_OF_STEPS' : 'BOX';
}

/**
 * uint8[C] 1 = the gap of a contact is within the δ of its pair; undefined = all are, because {@link reachOfReasons} is
 * that of the only δ.
 */
function withinDelta({ mesh, parameters, chosen }: PreparedStep, contacts: Contacts): Uint8Array | undefined {
  if (parameters.method === 'VOLUME_IMPULSES') return undefined;
  const { scale } = chosen.frame;
  const deltas = distancesByVertex(mesh, { delta: parameters.activationDistance * scale, scale });
  if (!deltas) return undefined;
  const { kinds, vertices, distances } = contacts;
  return kinds.map((kind, c) => {
    const s = 4 * c;
    const [v0, v1, v2, v3] = [vertices[s]!, vertices[s + 1]!, vertices[s + 2]!, vertices[s + 3]!];
    const delta = pairActivationDistance(deltas, kind - 1, v0, v1, v2, v3);
    return distances[c]! * scale <= HOLDING_GAP * delta ? 1 : 0;
  });
}

function offerContacts(best: HeldBy, contacts: Contacts, isNear: Uint8Array | undefined, ways: Float64Array): void {
  for (let c = 0; c < contacts.kinds.length; c++) {
    if (isNear?.[c] === 0) continue;
    for (let s = 0; s < 4; s++) {
      const strength = strengthOf(contacts, c, s, ways);
      if (strength > 0) best.offer(contacts.vertices[4 * c + s]!, c, strength);
    }
  }
}

/** w·cos of the vertex in a slot of a contact; 0 = the contact does not hold it */
function strengthOf({ kinds, vertices, weights, normals }: Contacts, c: number, s: number, ways: Float64Array): number {
  const v = vertices[4 * c + s]!;
  const weight = weights[4 * c + s]!;
  if (v === NO_PAIR || !(weight > 0)) return 0;
  const [k, n] = [4 * v, 3 * c];
  const along = normals[n]! * ways[k]! + normals[n + 1]! * ways[k + 1]! + normals[n + 2]! * ways[k + 2]!;
  const closing = s < (kinds[c] === 2 ? 2 : 1) ? -along : along;
  return closing > MIN_CLOSING ? weight * closing : 0;
}

/** int32[V] the contact that the engine recorded for a vertex, if it also holds it in the answer; −1 = none */
function recordedContacts(
  engine: EngineHolds,
  contacts: Contacts,
  isNear: Uint8Array | undefined,
  vertexCount: number,
  ways: Float64Array,
): Int32Array {
  const lookup = new PairLookup(contacts);
  const noted: PairList = { kinds: Array.from(engine.kinds, (kind) => kind + 1), vertices: engine.vertices };
  const found = new Int32Array(vertexCount).fill(-1);
  for (let v = 0; v < found.length; v++) {
    if (engine.kinds[v]! < 0) continue;
    const c = lookup.find(noted, v);
    if (c >= 0 && isNear?.[c] !== 0 && isHolding(contacts, c, v, ways)) found[v] = c;
  }
  return found;
}

function isHolding(contacts: Contacts, c: number, v: number, ways: Float64Array): boolean {
  return [0, 1, 2, 3].some((s) => contacts.vertices[4 * c + s] === v && strengthOf(contacts, c, s, ways) > 0);
}

/** The pairs that hold vertices, each once. */
class FoundPairs {
  readonly #contacts: Contacts;
  readonly #places = new Map<number, number>();
  readonly #kinds: number[] = [];
  readonly #vertices: number[] = [];
  readonly #normals: number[] = [];
  readonly #distances: number[] = [];

  constructor(contacts: Contacts) {
    this.#contacts = contacts;
  }

  addContact(c: number): number {
    const known = this.#places.get(c);
    if (known !== undefined) return known;
    const { kinds, vertices, normals, distances } = this.#contacts;
    this.#places.set(c, this.#kinds.length);
    const ids = Array.from(vertices.subarray(4 * c, 4 * c + 4));
    return this.#add(kinds[c]!, ids, Array.from(normals.subarray(3 * c, 3 * c + 3)), distances[c]!);
  }

  /** @param edge its number over all lists */
  addEdge(edge: number, lists: readonly EdgeList[], answer: Positions): number {
    const key = -1 - edge;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const { a, b } = edgeOf(lists, edge);
    const between = [0, 1, 2].map((c) => answer[3 * a + c]! - answer[3 * b + c]!);
    const length = Math.hypot(...between);
    this.#places.set(key, this.#kinds.length);
    return this.#add(
      VERTEX_VERTEX,
      [a, b, NO_PAIR, NO_PAIR],
      between.map((part) => part / length),
      length,
    );
  }

  list(): Pick<Reasons, 'kinds' | 'vertices' | 'normals' | 'distances'> {
    return {
      kinds: Uint8Array.from(this.#kinds),
      vertices: Uint32Array.from(this.#vertices),
      normals: Float32Array.from(this.#normals),
      distances: Float32Array.from(this.#distances),
    };
  }

  #add(kind: number, ids: readonly number[], normal: readonly number[], distance: number): number {
    this.#vertices.push(...ids);
    this.#normals.push(...normal);
    this.#distances.push(distance);
    return this.#kinds.push(kind) - 1;
  }
}
