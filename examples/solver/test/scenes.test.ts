import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { FrameCache } from '../runner/cache.js';
import { makeJudge } from '../runner/judge.js';
import { writeOutputs } from '../runner/outputs.js';
import { modelOf, play } from '../runner/play.js';
import { makeTable } from '../runner/table.js';
import { SCENES } from '../scenes/index.js';

const folder = mkdtempSync(join(tmpdir(), 'scenes-'));
const server = await ServerProcess.start({ engine: 'cpu' });
t.teardown(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Plays some frames of a small scene, or goes on with one; every frame is judged. */
async function playSmall(name: string, frames: number) {
  const scene = SCENES.get(name)!('small');
  const model = modelOf(scene);
  const cache = new FrameCache(join(folder, name), model);
  const fixed = { address: server.grpcAddress, size: 'small', parameters: {}, isJudged: true } as const;
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

/** Scene, and frames until its bodies have met: one of every kind of body. */
const PLAYED: readonly (readonly [string, number])[] = [
  ['spin-90', 1],
  ['mats', 12],
  ['hair', 6],
  ['sand', 6],
];

for (const [name, frames] of PLAYED) {
  t.test(`${name}: ${frames} time steps without intersections`, async (t) => {
    const { played } = await playSmall(name, frames);
    t.equal(played.records.length, frames);
    for (const record of played.records) {
      t.equal(record.intersections, 0);
      t.ok(record.steps >= 1 && Number.isFinite(record.energies.kinetic));
    }
  });
}

t.test('a cloth that falls onto a sphere is played, interrupted, gone on with, and written out', async (t) => {
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
  const energy = (at: number): number => {
    const { kinetic, elastic, potential } = played.records[at]!.energies;
    return kinetic + elastic + potential;
  };
  t.ok(energy(19) < energy(0), 'a fall onto an obstacle at rest loses energy');
  t.ok(played.records[19]!.contacts > 50, 'the cloth lies on the sphere');
  const heights = cache.read(20).filter((_, i) => i % 3 === 2 && i < 3 * 24 * 24);
  t.ok(Math.max(...heights) - Math.min(...heights) > 0.1, 'its middle is on the sphere, its corners hang');
  writeOutputs(played, model, cache, { pictures: 2, ply: false });
  t.match(readFileSync(join(cache.folder, 'plot.svg'), 'utf8'), /^<svg[\s\S]*<\/svg>\n$/);
  t.equal(readFileSync(join(cache.folder, 'strip.png')).subarray(1, 4).toString(), 'PNG');
  t.match(makeTable([played]), /Sphere \(Fig\. 13\)[\s\S]*rotating-sphere, small/);
});
