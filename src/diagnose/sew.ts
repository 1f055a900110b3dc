import type { MeshFile } from '../mesh/files/index.js';
import { distanceOf } from '../mesh/lengths.js';
import { readSurface, type Surface } from './surface.js';
import { medianEdgeOf, withElements } from './weld.js';

/** Largest ratio of a gap to the median edge that is sewn: wider ones are not open seams but separate borders. */
const SEAM_SHARE = 0.5;

/** Border edges along which vertices of one border are neighbours rather than partners. */
const ALONG = 2;

export interface Sewn {
  readonly file: MeshFile;
  /** border vertices that found a partner, each pair once */
  readonly pairs: number;
  /** triangles that were added, after all others */
  readonly added: number;
}

/**
 * Closes open seams: two border vertices are partners if each is the nearest to the other of all border vertices that
 * no two border edges connect, and no farther than the tolerance. If two neighbours have neighbouring partners, the gap
 * between them is filled with two triangles, oriented as the panel of the lower side. Vertices, positions and existing
 * elements do not change; the new triangles come last. The strip keeps the panels together without moving anything.
 *
 * Vertices that coincide exactly are not sewn, because a strip without area would touch the panels; they are welded.
 *
 * @param tolerance widest gap, > 0, the file's unit; default: {@link SEAM_SHARE} of the median edge
 */
export function sew(file: MeshFile, tolerance = SEAM_SHARE * medianEdgeOf(file)): Sewn {
  const surface = readSurface(file.triangles, file.vertexCount);
  const borders = new Map<number, number[]>();
  const sides: number[] = [];
  const note = (a: number, b: number): void => {
    const list = borders.get(a);
    if (list) list.push(b);
    else borders.set(a, [b]);
  };
  for (let side = 0; side < file.triangles.length; side++) {
    if (surface.valence(surface.edgeOfSide[side]) !== 1) continue;
    sides.push(side);
    note(surface.from(side), surface.to(side));
    note(surface.to(side), surface.from(side));
  }
  const partner = findPartners(file, borders, tolerance);
  const strips = fill(surface, sides, borders, partner);
  const sizes = [...file.faceSizes, ...strips.map(() => 3)];
  return {
    file: withElements(file, sizes, [...file.faceVertices, ...strips.flat()]),
    pairs: [...partner].filter(([a, b]) => a < b).length,
    added: strips.length,
  };
}

type Borders = ReadonlyMap<number, readonly number[]>;

/** The partner of each border vertex, in both directions. */
function findPartners({ positions }: MeshFile, borders: Borders, tolerance: number): Map<number, number> {
  const cells = new Map<string, number[]>();
  const cellOf = (v: number): number[] => [0, 1, 2].map((axis) => Math.floor(positions[3 * v + axis] / tolerance));
  for (const v of borders.keys()) {
    const key = cellOf(v).join(' ');
    const list = cells.get(key);
    if (list) list.push(v);
    else cells.set(key, [v]);
  }
  const nearest = new Map<number, number>();
  for (const v of borders.keys()) {
    const [i, j, k] = cellOf(v);
    const near = connected(borders, v);
    let [best, found] = [tolerance, -1];
    for (let cell = 0; cell < 27; cell++) {
      const key = `${i + (cell % 3) - 1} ${j + (Math.floor(cell / 3) % 3) - 1} ${k + Math.floor(cell / 9) - 1}`;
      for (const other of cells.get(key) ?? []) {
        const distance = distanceOf(positions, v, other);
        if (near.has(other) || distance === 0 || distance > best) continue;
        if (distance === best && found >= 0 && other > found) continue;
        [best, found] = [distance, other];
      }
    }
    if (found >= 0) nearest.set(v, found);
  }
  return new Map([...nearest].filter(([v, other]) => nearest.get(other) === v));
}

/** The vertices that at most {@link ALONG} border edges connect with one, including itself. */
function connected(borders: Borders, v: number): Set<number> {
  let ring = [v];
  const near = new Set(ring);
  for (let round = 0; round < ALONG; round++) {
    ring = ring.flatMap((at) => borders.get(at) ?? []).filter((next) => !near.has(next));
    for (const next of ring) near.add(next);
  }
  return near;
}

/** Two triangles between every border side and the border edge of its partners, once. */
function fill(
  surface: Surface,
  sides: readonly number[],
  borders: Borders,
  partner: ReadonlyMap<number, number>,
): [number, number, number][] {
  const strips: [number, number, number][] = [];
  const done = new Set<string>();
  for (const side of sides) {
    const [a, b] = [surface.from(side), surface.to(side)];
    const [c, d] = [partner.get(a), partner.get(b)];
    if (c === undefined || d === undefined || c === d || !borders.get(c)?.includes(d)) continue;
    const key = [a, b, c, d].sort((p, q) => p - q).join(' ');
    if (done.has(key)) continue;
    done.add(key);
    // The panel passes its border from a to b, so the strip passes it from b to a.
    strips.push([b, a, c], [b, c, d]);
  }
  return strips;
}
