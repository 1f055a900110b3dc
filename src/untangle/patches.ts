import type { Crossing, CutEnd, Label } from './crossings.js';
import { ITEMS_PER_PULSE, type Pulse } from './pulse.js';
import type { Topology } from './topology.js';

/** The patches into which a crossing cuts its sheets, by union-find over the vertices. */
export class Patches {
  readonly #parent: Int32Array;
  readonly #area = new Map<number, number>();
  readonly #vertices = new Map<number, number[]>();

  /**
   * @param edgesOf contact edges of a sheet
   * @param areas float64[V] share of the surface of a vertex
   */
  constructor(
    { mesh, sheet }: Topology,
    { sheets, cut, tips }: Crossing,
    edgesOf: (sheet: number) => readonly number[],
    areas: Float64Array,
    pulse: Pulse = () => {},
  ) {
    const { edges, vertexCount } = mesh;
    this.#parent = new Int32Array(vertexCount).fill(-1);
    const members = [...new Set(sheets)];
    const entered: number[] = [];
    const enter = (v: number): void => {
      if (this.#parent[v] !== -1) return;
      this.#parent[v] = v;
      entered.push(v);
    };
    for (const root of members) {
      for (const [n, e] of edgesOf(root).entries()) {
        if (n % ITEMS_PER_PULSE === 0) pulse();
        const [a, b] = [edges[2 * e], edges[2 * e + 1]];
        enter(a);
        enter(b);
        if (!cut.has(e) && !tips.has(a) && !tips.has(b)) this.#join(a, b);
      }
    }
    // Ascending, so that sums of areas do not depend on the order of edges; and only vertices of these sheets, because
    // a mesh of many small sheets may have as many crossings as sheets.
    for (const [n, v] of Uint32Array.from(entered).sort().entries()) {
      if (n % ITEMS_PER_PULSE === 0) pulse();
      if (!members.includes(sheet[v])) continue;
      const root = this.of(v);
      this.#area.set(root, (this.#area.get(root) ?? 0) + areas[v]);
      const known = this.#vertices.get(root);
      if (known) known.push(v);
      else this.#vertices.set(root, [v]);
    }
  }

  #join(a: number, b: number): void {
    const [p, q] = [this.of(a), this.of(b)];
    if (p !== q) this.#parent[Math.max(p, q)] = Math.min(p, q);
  }

  /** Returns the patch of a vertex, named by its lowest vertex. */
  of(v: number): number {
    const parent = this.#parent;
    while (parent[v] !== v) v = parent[v] = parent[parent[v]];
    return v;
  }

  area(patch: number): number {
    return this.#area.get(patch) ?? 0;
  }

  vertices(patch: number): readonly number[] {
    return this.#vertices.get(patch) ?? [];
  }
}

/** What a contour separates on the sheet of one of its roles. */
export interface Separation {
  /** the patches on each side, by label */
  readonly patches: ReadonlyMap<Label, readonly number[]>;
  /** whether the contour cuts the sheet, so that its sides are different patches */
  readonly isWhole: boolean;
}

export function separate(patches: Patches, ends: readonly CutEnd[], cut: ReadonlySet<number>): Separation {
  const votes = new Map<number, number>();
  const byEdge = new Map<number, Set<number>>();
  for (const { vertex, label, edge } of ends) {
    const patch = patches.of(vertex);
    votes.set(patch, (votes.get(patch) ?? 0) + label);
    if (!cut.has(edge)) continue;
    const known = byEdge.get(edge);
    if (known) known.add(patch);
    else byEdge.set(edge, new Set([patch]));
  }
  const sides = new Map<Label, number[]>([
    [1, []],
    [-1, []],
  ]);
  for (const [patch, vote] of votes) {
    if (vote !== 0) sides.get(Math.sign(vote) as Label)!.push(patch);
  }
  let whole = 0;
  for (const touched of byEdge.values()) if (touched.size > 1) whole++;
  return { patches: sides, isWhole: byEdge.size > 0 && 2 * whole > byEdge.size };
}
