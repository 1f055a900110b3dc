import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { algorithmVersion } from '../../../src/paths.js';
import { skipWithoutChromium } from '../../../test/support/chromium.js';
import { shareOf } from '../../../test/support/share.js';
import { FrameCache } from '../runner/cache.js';
import { makeJudge } from '../runner/judge.js';
import { writeOutputs } from '../runner/outputs.js';
import { modelOf, play } from '../runner/play.js';
import { makeTable } from '../runner/table.js';
import { SCENES } from '../scenes/index.js';
import { energiesOf } from '../src/momentum.js';

const folder = mkdtempSync(join(tmpdir(), 'scenes-'));
const server = await ServerProcess.start({ engine: 'cpu' });
t.teardown(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Plays some frames of a small scene, or continues one; every frame is judged. */
async function playSmall(name: string, frames: number) {
  const scene = SCENES.get(name)!('small');
  const model = modelOf(scene);
  const cache = new FrameCache(join(folder, name), model);
  const service = { address: server.grpcAddress, processorTime: () => server.processorTime() };
  const fixed = { ...service, size: 'small', parameters: {}, isJudged: true } as const;
  const played = await play(scene, { ...fixed, frames, cache, model, onStep: () => true });
  return { played, model, cache };
}

t.test('every scene begins without intersections', async (t) => {
  for (const [name, make] of SCENES) {
    if (/^(funnel|spin)-/.test(name) && !/-(20|45)$/.test(name)) continue; // the same bodies
    const scene = make('small');
    const model = modelOf(scene);
    t.equal(makeJudge(model)(model.start), 0, name);
    t.ok(scene.timeStep > 0 && scene.frames > 0);
    if (scene.paper) t.ok(scene.paper.averageSteps < scene.paper.maximumSteps);
  }
});

/** Scene, and the number of frames until its bodies have met. */
const PLAYED: readonly (readonly [string, number])[] = [
  ['spin-90', 1],
  ['mats', 12],
  ['hair', 6],
  ['sand', 6],
  ['two-spheres', 4],
  ['hammock', 9],
  ['drapes', 15],
  ['between-spheres', 8],
  ['gripper', 8],
];

/**
 * One time step of all other scenes: their bodies, motions and parameters are accepted, and knots and worn garments are
 * preserved.
 */
const BEGUN = [...SCENES.keys()]
  .filter((name) => !PLAYED.some(([played]) => played === name) && !/^(funnel|spin|strain)-\d/.test(name))
  .concat('funnel-20')
  .map((name) => [name, 1] as const);

for (const [name, frames] of shareOf([...PLAYED, ...BEGUN], 3)) {
  t.test(`${name}: ${frames} time steps without intersections`, async (t) => {
    const { played } = await playSmall(name, frames);
    t.equal(played.records.length, frames);
    t.equal(played.knot?.changedAt, undefined);
    t.equal(played.pile?.changedAt, undefined);
    for (const record of played.records) {
      t.equal(record.version, algorithmVersion);
      t.equal(record.intersections, 0);
      t.ok(record.steps >= 1 && Number.isFinite(record.energies.kinetic));
    }
  });
}

/** For a strain: limits hold to a thousandth of a length according to the service, plus the rounding of positions. */
const LIMIT = { kept: 1e-3, rounded: 1e-4 };

t.test('a cloth too soft to carry itself keeps within the limits of its strains while it falls', async (t) => {
  const { played } = await playSmall('strain-5', 12);
  for (const { strain, intersections } of played.records) {
    t.equal(intersections, 0);
    const slack = LIMIT.kept + LIMIT.rounded;
    t.ok(strain![0] > 0.95 - slack && strain![1] < 1.05 + slack, `${strain}`);
  }
});

t.test('what falls onto a tip in long time steps stores less than its fall to the ground could set free', async (t) => {
  for (const name of ['cone', 'needle']) {
    const { played, model } = await playSmall(name, 5);
    const fall = energiesOf(model, model.start, model.startVelocity).potential; // the ground is at z = 0
    for (const { frame, energies, contacts } of played.records) {
      t.ok(energies.elastic < fall, `${name}, frame ${frame}: ${energies.elastic} J of ${fall} J`);
      if (frame === 5) t.ok(contacts > 100, 'it has landed');
    }
  }
});

t.test('two shells that collide exchange momentum, and lose none', async (t) => {
  const { played, model, cache } = await playSmall('two-spheres', 8);
  const before = cache.read(7);
  const after = cache.read(8);
  let [sum, right] = [0, 0];
  for (let v = 0; v < model.vertexCount; v++) {
    const p = (model.masses[v]! * (after[3 * v]! - before[3 * v]!)) / played.scene.timeStep;
    sum += p;
    if (v < model.vertexCount / 2) right += p;
  }
  const begun = model.masses.reduce((p, mass, v) => p + Math.abs(mass * model.startVelocity[3 * v]!), 0);
  t.ok(
    played.records.some(({ contacts, impulses }) => contacts > 100 && impulses.total > 0.01 * begun),
    'they meet',
  );
  // float32 positions of 0.2 m round velocities to 1e-6 m/s; the linear solves end at a thousandth.
  t.ok(Math.abs(sum) < 1e-3 * begun, `${sum} of ${begun}`);
  t.ok(right > -0.1 * begun, `the right one, which had -${begun / 2}, has ${right}`);
  t.ok(
    played.records[7]!.energies.kinetic < 0.5 * played.records[0]!.energies.kinetic,
    'shells dent and do not spring back',
  );
});

t.test('a scene can be played, interrupted, continued and written out', async (t) => {
  await playSmall('rotating-sphere', 14);
  const { played, model, cache } = await playSmall('rotating-sphere', 20);
  t.same(
    played.records.map(({ frame }) => frame),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  t.equal(cache.frameCount, 20);
  t.ok(
    played.records.every(({ intersections }) => intersections === 0),
    'no frame intersects',
  );
  const used = played.records.reduce((sum, { processorTime }) => sum + (processorTime ?? 0), 0);
  t.ok(used > 0 || server.processorTime() === undefined, 'a system that tells processor times tells some');
  const energy = (at: number): number => {
    const { kinetic, elastic, potential } = played.records[at]!.energies;
    return kinetic + elastic + potential;
  };
  t.ok(energy(19) < energy(0), 'a fall onto an obstacle at rest loses energy');
  t.ok(played.records[19]!.contacts > 50, 'the cloth lies on the sphere');
  const heights = cache.read(20).filter((_, i) => i % 3 === 2 && i < 3 * 24 * 24);
  t.ok(Math.max(...heights) - Math.min(...heights) > 0.1, 'its middle is on the sphere, its corners hang');
  await writeOutputs(played, model, cache, { pictures: 1, ply: false });
  t.match(readFileSync(join(cache.folder, 'plot.svg'), 'utf8'), /^<svg[\s\S]*<\/svg>\n$/);
  if (skipWithoutChromium) t.comment(skipWithoutChromium);
  else t.equal(readFileSync(join(cache.folder, 'strip.png')).subarray(1, 4).toString(), 'PNG');
  t.match(makeTable([played]), /Sphere \(Fig\. 13\)[\s\S]*rotating-sphere, small/);
});
