import type { FilteringEngine } from '../src/jobs/verifier.js';
import { buildMesh } from '../src/mesh/build.js';
import { readMeshFile, toMeshInput } from '../src/mesh/files/index.js';
import { decideDoubtful, findIntersections } from '../src/verify/state.js';
import type { PairRules } from '../src/verify/types.js';
import { closeEngines, openEngines } from './engines.js';
import { describeMachine } from './machine.js';

/**
 * Compares the exact test of a state on the host with the device's filter and the exact test of what it leaves.
 *
 *   node dist/bench/state-filter.js FILE [FILE…]      meshes in any format that the command line reads
 */

const REPEATS = 9;
const RULES: PairRules = { kinematicPairs: 'PROTECT', maxPairs: 64 };

const [{ engine }] = await openEngines(['webgpu']);
// Software adapters are measured as well, although the service would not use the filter on them.
const gpu = engine as FilteringEngine;
console.log(JSON.stringify(describeMachine([engine.description])));

async function measure(work: () => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < REPEATS; n++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b);
}

const show = (times: number[]): string =>
  `${times[REPEATS >> 1].toFixed(1)} ms (${times[0].toFixed(1)}–${times[REPEATS - 1].toFixed(1)})`;

for (const file of process.argv.slice(2)) {
  const read = await readMeshFile(file);
  const mesh = buildMesh(toMeshInput(read));
  for (const x of [Float32Array.from(read.positions), Float64Array.from(read.positions)]) {
    const filter = await gpu.openStateFilter(mesh);
    const began = performance.now();
    // The first state uploads the mesh.
    const doubtful = await filter.findDoubtful(x);
    const first = performance.now() - began;
    const host = await measure(() => findIntersections(mesh, x, RULES));
    const device = await measure(() => filter.findDoubtful(x));
    const rest = await measure(() => doubtful && decideDoubtful(mesh, x, RULES, doubtful));
    filter.close();
    const pairs = doubtful ? `${doubtful.pairs.length / 2} of ${doubtful.pairsTested} pairs in doubt` : 'gave up';
    const ratio = (device[REPEATS >> 1] + rest[REPEATS >> 1]) / host[REPEATS >> 1];
    console.log(
      `${file} ${x.constructor.name}, ${mesh.triangles.length / 3} triangles: host ${show(host)}; device ${show(device)}, ` +
        `first ${first.toFixed(1)} ms, rest ${show(rest)}; ratio ${ratio.toFixed(2)}; ${pairs}`,
    );
  }
}
await closeEngines([{ name: 'webgpu', engine }]);
