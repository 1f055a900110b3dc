import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import type { Resolution } from '../../../src/solver/engine.js';
import { resolveJudged } from '../../support/judged-resolve.js';
import { examplePair } from '../../support/nearness.js';
import { seeded } from '../../support/random.js';
import { scatteredSheet } from '../cases.js';

t.setTimeout(600_000);

const engine = createCpuEngine();

/** From so many pairs a vertex on they are bounded in two passes (src/solver/cpu/forward.ts). */
const LONG_LIST = 48;

const pairsOf = ({ pairs }: Resolution): number =>
  pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex;

t.test('if lists are long, pairs that are skipped because of the α of nearer pairs never meet', async (t) => {
  const layers = { ...examplePair('layers'), parameters: { activationDistance: 0.003, stepLimit: 8 } };
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const sheet = { ...scatteredSheet(14, 3, random).build(), parameters: { stepLimit: 40 } };
  for (const [name, { mesh, start, target, parameters }] of Object.entries({ layers, sheet })) {
    const judged = await resolveJudged(engine, mesh, start, target, { ...parameters, quality: 'FAST' });
    t.ok(pairsOf(judged.resolution) > LONG_LIST * judged.mesh.vertexCount, `${name}: lists are long`);
    t.equal(judged.intersections, 0, `${name}: no state intersects`);
    t.equal(judged.collisions, 0, `${name}: no piece of the path collides`);
    t.ok(judged.resolution.steps > 1, `${name}: it moves`);
  }
});
