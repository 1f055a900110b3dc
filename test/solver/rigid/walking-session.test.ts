import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { CoordinateFrame } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { type Point, SceneBuilder } from '../../support/scene-builder.js';

const FRAMES = 8;
/** A frame's motion, in edges: two leaps. */
const STRIDE = 4;
const DEGREES = 2;

/** A kinematic sheet that walks on and turns, with a cloth above it that wants to lie below it. */
function walkers() {
  const cells = 12;
  const scene = new SceneBuilder();
  const place = (height: number, goal: number) => (u: number, v: number) => ({
    at: [cells * u, height, cells * v] as Point,
    to: [cells * u, goal, cells * v] as Point,
  });
  scene.sheet(cells, place(0, 0), true);
  const cloth = scene.sheet(cells, place(0.3, -0.2));
  const { mesh: input } = scene.build();
  const target = (frame: number): Float32Array => {
    const angle = (frame * DEGREES * Math.PI) / 180;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const y = new Float32Array(scene.target.length);
    for (let k = 0; k < y.length; k += 3) {
      const [a, h, b] = scene.target.slice(k, k + 3) as [number, number, number];
      y.set([c * a + s * b + STRIDE * frame, h, c * b - s * a], k);
    }
    return y;
  };
  return { mesh: buildMesh(input), start: Float32Array.from(scene.start), target, cloth };
}

/** Resolves the frames one after the other, each from the last one's answer. */
async function walk(quality: 'FAST' | 'BALANCED') {
  const { mesh, start, target, cloth } = walkers();
  const measures = measureMesh(mesh, start);
  const { parameters } = resolveParameters({ quality }, measures);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: 0.01 * parameters.activationDistance * frame.scale };
  const scene = await createCpuEngine().open(mesh, parameters, units);
  const told: { steps: number; searches: number; isReused: boolean; off: number; rms: number; status: string }[] = [];
  let x = frame.toEngine(start);
  for (let n = 1; n <= FRAMES; n++) {
    const y = frame.toEngine(target(n));
    const answer = await scene.resolve({ x, y });
    x = answer.positions;
    let off = 0;
    for (let k = 0; k < 3 * cloth; k++) if (x[k] !== y[k]) off++;
    let squared = 0;
    for (let k = 3 * cloth; k < x.length; k++) squared += (x[k] - y[k]) ** 2;
    const { steps, searches, proximitySetReused: isReused, status } = answer;
    told.push({ steps, searches, isReused, off, rms: Math.sqrt(squared / (x.length / 3 - cloth)), status });
  }
  scene.close();
  return told;
}

t.test('a body that walks rigidly carries everything on it along, and frames take a few steps', async (t) => {
  const told = await walk('BALANCED');
  const settled = told.slice(3);
  for (const { steps, searches, isReused, off, status } of settled) {
    t.ok(isReused);
    t.equal(searches, 0, 'P goes along');
    t.ok(steps <= 5, `${steps} steps: one piece, and those of the pull-back that find nothing to gain`);
    t.equal(off, 0, 'the body has the bits of its targets');
    t.equal(status, 'CONVERGED');
  }
  const [from, to] = [settled[0]!.rms, settled.at(-1)!.rms];
  t.ok(to <= from * (1 + 1e-4), `as near in the last frame as in the fourth: ${from}, ${to}`);
});

t.test('without a pull-back the steps take the body to its targets', async (t) => {
  for (const { off, status } of await walk('FAST')) t.same({ off, status }, { off: 0, status: 'CONVERGED' });
});
