import t, { type Test } from 'tap';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { Surfaces } from '../../bench/untangle/surfaces.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { findContours } from '../../src/untangle/contours.js';
import { groupCrossings } from '../../src/untangle/crossings.js';
import { RegionsLeftOut } from '../../src/untangle/left-out.js';
import { surfaceOf } from '../../src/untangle/measures.js';
import { Patches } from '../../src/untangle/patches.js';
import { ElementIds, readPierces } from '../../src/untangle/pierces.js';
import { ITEMS_PER_PULSE } from '../../src/untangle/pulse.js';
import { describeTopology } from '../../src/untangle/topology.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';

/** Two rough sheets through each other, with about a pierce a vertex. */
function rough(size: number, seed: number) {
  const random = seeded(seed);
  const scene = new Surfaces();
  for (const [n, name] of ['one', 'two'].entries()) {
    scene.grid(name, size, size, (u, v) => ({
      at: [size * u + 0.01 * n + 1e-3 * random(), size * v + 0.013 * n + 1e-3 * random(), 0.3 * random()],
    }));
  }
  return scene.build();
}

/** What works on this many items pulses in proportion to them, and ends with what a pulse throws. */
function expectPulses(t: Test, name: string, items: number, work: (pulse: () => void) => unknown): void {
  let pulses = 0;
  work(() => pulses++);
  t.ok(pulses >= Math.floor(items / ITEMS_PER_PULSE), `${name}: ${pulses} pulses for ${items} items`);
  const stopAt = Math.ceil(pulses / 2);
  let told = 0;
  const stop = () => {
    if (++told >= stopAt) throw new Error('stopped');
  };
  t.throws(() => work(stop), { message: 'stopped' }, name);
  t.equal(told, stopAt, `${name}: nothing follows`);
}

t.test('the analysis of a state pulses at short intervals', async (t) => {
  const { mesh: input, positions } = rough(72, 1);
  const mesh = buildMesh(input);
  const topology = describeTopology(mesh);
  const x = Float64Array.from(positions);
  const findings = findIntersections(mesh, x, { kinematicPairs: 'SKIP', maxPairs: 1e6 });
  const ids = new ElementIds(topology);
  const { pierces, pairs } = readPierces(topology, ids, x, findings);
  const { length } = pierces;
  t.ok(length > 2 * ITEMS_PER_PULSE, `${length} pierces`);
  const contours = findContours(topology, pierces);
  const [crossing] = groupCrossings(topology, contours);
  const { edgesOf, areas } = surfaceOf(topology, x);
  const work: Record<string, readonly [items: number, work: (pulse: () => void) => unknown]> = {
    readPierces: [length, (pulse) => readPierces(topology, ids, x, findings, pulse)],
    findContours: [3 * length, (pulse) => findContours(topology, pierces, pulse)],
    groupCrossings: [length, (pulse) => groupCrossings(topology, contours, pulse)],
    Patches: [mesh.edges.length / 2, (pulse) => new Patches(topology, crossing!, edgesOf, areas, pulse)],
    RegionsLeftOut: [length, (pulse) => new RegionsLeftOut(topology, pairs, [], pulse)],
  };
  for (const [name, [items, run]] of Object.entries(work)) expectPulses(t, name, items, run);
});

t.test('patches look at the vertices of their sheets only', async (t) => {
  const small = 3;
  const count = 500;
  const triangles = Uint32Array.from({ length: 3 * count }, (_, v) => v);
  const mesh = buildMesh({ vertexCount: 3 * count, triangles });
  const topology = describeTopology(mesh);
  const { edgesOf, areas } = surfaceOf(
    topology,
    Float64Array.from({ length: 9 * count }, (_, k) => (k * k) % 17),
  );
  let looks = 0;
  const counted = <A extends object>(array: A): A =>
    new Proxy(array, {
      get(of, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
        return Reflect.get(of, key, of);
      },
    });
  const none = { contours: [], cut: new Set<number>(), tips: new Set<number>(), ends: new Map(), spans: new Map() };
  const crossing = { sheets: [300, 600] as const, ...none };
  const patches = new Patches({ ...topology, sheet: counted(topology.sheet) }, crossing, edgesOf, counted(areas));
  t.same(patches.vertices(300), [300, 301, 302]);
  t.ok(looks <= 4 * small, `${looks} looks`);
});

t.test('an untangling that is cancelled anywhere ends at the next pulse with the best state', async (t) => {
  const scene = rough(14, 2);
  const engine = createCpuEngine();
  const run = async (stopAt: number) => {
    let pulses = 0;
    const answer = await untangleOne({ ...scene, maxIterations: 2 }, engine, { isCancelled: () => ++pulses >= stopAt });
    return { ...answer, pulses };
  };
  const { pulses: whole, report } = await run(Number.POSITIVE_INFINITY);
  t.ok(report.contours.length > 1, `${report.contours.length} contours`);
  const first = await run(1);
  t.match(first.report, { status: 'UNRESOLVED', ended: 'CANCELLED' }, 'before the contours of the start are found');
  t.same(first.report.contours, [], 'none was decided');
  t.same(first.positions, scene.positions);
  for (let k = 1; k <= 8; k++) {
    const { report } = await run(Math.ceil((k * whole) / 9));
    t.match(report, { ended: 'CANCELLED' }, `after ${k} ninths`);
  }
});
