import t from 'tap';
import type { DeviceMemory } from '../../../gpu/device/memory.js';
import type { Reader } from '../../../gpu/device/readback.js';
import { PHASE } from '../../../gpu/kernels/constants.js';
import { CONTROL, VERTEX_STEP } from '../../../gpu/kernels/structs.js';
import { HoldReader } from '../../../gpu/step/hold-reader.js';
import type { SceneBuffers } from '../../../gpu/step/scene-buffers.js';
import { buildMesh } from '../../../src/mesh/build.js';

/** The clock of the sweeps. */
const CLOCK = 5;
const NONE = 0xffffffff;

t.test('pushes belong to the pairs that the sweeps had, also after a search of everything', async (t) => {
  const mesh = buildMesh({ vertexCount: 4, particles: Uint32Array.of(0, 1, 2, 3) });
  const pairs = [Int32Array.of(0, 1, -1, -1), Int32Array.of(2, 3, -1, -1)];
  const steps = new Uint32Array(VERTEX_STEP.words * mesh.vertexCount).fill(NONE);
  const multipliers = Float32Array.of(3, 0);
  // VV, the kind of both pairs.
  const kinds = Uint32Array.of(3, 3);
  const read = () => {
    const vertices = Int32Array.from(pairs.flatMap((pair) => [...pair]));
    return [steps.buffer, vertices.buffer, kinds.buffer, multipliers.buffer];
  };
  const place = { buffer: {}, offset: 0, size: 0 };
  const buffers = { vertexStep: place, named: () => place, reservePullBack: () => undefined };
  const holds = await HoldReader.open(
    { checkAllocations: async (_: string, make: () => void) => make() } as unknown as DeviceMemory,
    buffers as unknown as SceneBuffers,
    { read: async () => ({ wait: async () => read() }) } as unknown as Reader,
    { mesh, scale: 1 },
  );
  const none = CONTROL.unpack(new ArrayBuffer(CONTROL.bytes));
  const swept = { ...none, pairCount: 2, clock: CLOCK, keptAt: CLOCK };
  await holds.note(none, swept, PHASE.PULL);
  // A search that was submitted alone puts the pairs elsewhere, and nothing that was kept counts any longer.
  pairs.reverse();
  const searched = { ...swept, searches: 1, keptAt: 0 };
  await holds.note(swept, searched, PHASE.PULL);
  await holds.note(searched, { ...searched, steps: 1, clock: CLOCK + 1 }, PHASE.PULL);
  t.same([...holds.holds.since], [1, 1, 0, 0]);
  t.same([...holds.holds.vertices.subarray(0, 2)], [0, 1]);
});
