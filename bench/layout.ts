import { layOutSearch } from '../gpu/search/layout.js';
import { planEdges } from '../gpu/step/edge-plan.js';
import { buildMesh } from '../src/mesh/build.js';
import type { CollisionMesh } from '../src/mesh/types.js';
import { PAIR_KINDS } from '../src/solver/pair-kinds.js';
import { makeCases } from './cases.js';
import { spreadOf } from './measure.js';
import { prepare } from './measure-engines.js';
import { countVisits } from './tree-visits.js';

/**
 * Processor time on the host before a mesh is resident: building it, and the layout of its scene on the device (the
 * order of the trees, the colours of the edges). Then what a query of a search examines in the trees.
 *
 *   node dist/bench/layout.js [VERTICES [SCENE [REPEATS]]]      default 500000 layers 5
 *
 * Bars at a million triangles: 200 ms and 150 ms.
 */

/**
 * Mean edges by which boxes reach beyond their elements. The trust boxes of a search reach differently far in every
 * scene; the figures compare orders of the trees only.
 */
const REACH = 0.3;

const [vertices = '500000', name = 'layers', repeats = '5'] = process.argv.slice(2);

function timed<T>(work: () => T, times: number[]): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  times.push((user + system) / 1000);
  return result;
}

for await (const { request, triangles, vertices: count } of makeCases([name], [Number(vertices)], undefined)) {
  const { x } = prepare({ request });
  const building: number[] = [];
  const trees: number[] = [];
  const colours: number[] = [];
  // The first round runs code that is not yet compiled, a cost that a service pays once.
  for (let n = 0; n <= Number(repeats); n++) {
    const mesh = timed(() => buildMesh(request.mesh), building);
    timed(() => layOutSearch(mesh, x), trees);
    timed(() => planEdges(mesh, true), colours);
  }
  const show = (times: readonly number[]): string => {
    const { median, min, max } = spreadOf(times.slice(1));
    return `${median.toFixed(0)} ms (${min.toFixed(0)} to ${max.toFixed(0)}; first ${times[0].toFixed(0)})`;
  };
  const layout = trees.map((time, n) => time + colours[n]);
  console.log(`${name}, ${count} vertices, ${triangles} triangles, processor time, medians of ${repeats}`);
  console.log(`buildMesh ${show(building)}`);
  console.log(`layout of the scene ${show(layout)}: trees ${show(trees)}, colours ${show(colours)}`);
  const mesh = buildMesh(request.mesh);
  const search = layOutSearch(mesh, x);
  const reach = REACH * meanEdge(mesh, x);
  for (const walk of search.walks) {
    const visits = countVisits(search, walk, x, reach);
    const [nodes, elements, found] = [visits.nodes, visits.elements, visits.found].map((count) => count.toFixed(1));
    const { name } = PAIR_KINDS[walk.kind];
    console.log(`a query of ${name}: ${nodes} nodes, ${elements} elements, of which its box meets ${found}`);
  }
}

function meanEdge({ edges }: CollisionMesh, x: Float32Array): number {
  let sum = 0;
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [3 * edges[e], 3 * edges[e + 1]];
    sum += Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
  }
  return sum / (edges.length / 2);
}
