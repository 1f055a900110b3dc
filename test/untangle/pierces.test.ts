import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { ElementIds, readPierces } from '../../src/untangle/pierces.js';
import { describeTopology } from '../../src/untangle/topology.js';
import { findIntersections } from '../../src/verify/state.js';

t.test('a pierce has its place and its side whatever the unit is', async (t) => {
  const mesh = buildMesh({ vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) });
  const topology = describeTopology(mesh);
  const at = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 0.5, 0.25, 0.25, -0.5, 2, 2, 0.25];
  const piercesOf = (unit: number) => {
    const x = Float64Array.from(at, (value) => value * unit);
    const findings = findIntersections(mesh, x, { kinematicPairs: 'PROTECT', maxPairs: 9 });
    return readPierces(topology, new ElementIds(topology), x, findings).pierces;
  };
  const usual = piercesOf(1);
  t.ok(usual.length > 0 && usual.every(({ side }) => Math.abs(side) === 1));
  for (const exponent of [-1000, -500, -150, 150, 400, 500, 1000])
    t.same(piercesOf(2 ** exponent), usual, `2^${exponent}`);
});
