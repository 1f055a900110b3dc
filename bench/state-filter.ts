import type { GpuEngine } from '../gpu/engine.js';
import { readMeshFile, toMeshInput } from '../src/mesh/files/index.js';
import { closeEngines, openEngines } from './engines.js';
import { compareFilter } from './hardware/filter.js';
import { describeMachine } from './machine.js';

/**
 * Compares the exact test of a state on the host with the device's filter followed by the exact test of the remaining
 * pairs.
 *
 *   node dist/bench/state-filter.js FILE [FILE…]      meshes in any format that the command line reads
 */

const [{ engine }] = await openEngines(['webgpu']);
console.log(JSON.stringify(describeMachine([engine.description])));
for (const file of process.argv.slice(2)) {
  const read = await readMeshFile(file);
  for (const start of [Float32Array.from(read.positions), Float64Array.from(read.positions)]) {
    // Software adapters are measured, too, although the service would not use the filter on them.
    const { lines } = await compareFilter(engine as GpuEngine, { mesh: toMeshInput(read), start });
    for (const line of lines) console.log(`${file} ${start.constructor.name}, ${line}`);
  }
}
await closeEngines([{ name: 'webgpu', engine }]);
