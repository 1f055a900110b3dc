import t from 'tap';
import { ENOUGH_FOR_PROBE, probeRequest } from '../../src/session/resolve.js';
import type { Scene } from '../../src/solver/engine.js';
import { stackSwap } from '../solver/cases.js';
import { openSpecialEngine, openTestEngine } from '../support/gpu.js';
import { refusalOf } from '../support/job.js';
import { resolveJudged } from '../support/judged-resolve.js';
import { openCase } from '../support/open-case.js';
import { SceneBuilder } from '../support/scene-builder.js';
import { shareOf } from '../support/share.js';

// A software driver compiles every kernel when an engine opens, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

const bytesOf = (array: Float32Array): Buffer => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/** A sheet that is sent through another one, which has a hill in the middle: P grows as more of them meet. */
function sheetOverHill(n: number) {
  const scene = new SceneBuilder();
  scene.sheet(n, (u, v) => {
    const at = [n * u, n * v, 1.5 * Math.exp(-8 * ((u - 0.5) ** 2 + (v - 0.5) ** 2))] as const;
    return { at, to: at };
  });
  scene.sheet(n, (u, v) => ({ at: [n * u + 0.1, n * v + 0.05, 2], to: [n * u + 0.1, n * v + 0.05, -3] }));
  return scene.build();
}

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  t.test('A scene with little room grows to its demand and gives the same bytes.', async (t) => {
    const { mesh, start, target } = stackSwap(8).build();
    const tight = await openSpecialEngine(t, { firstPairs: 1 });
    const ample = await openSpecialEngine(t, { firstPairs: 1 << 17 });
    const small = await openCase(tight, mesh, start, target);
    const large = await openCase(ample, mesh, start, target);
    const before = small.scene.bytes;
    const [grown, roomy] = [await small.resolve(), await large.resolve()];
    t.ok(roomy.pairs.vertexTriangle > 100, 'there are pairs to have no room for');
    t.ok(small.scene.bytes > before + 70 * roomy.pairs.vertexTriangle, 'it grew');
    t.ok(small.scene.bytes < large.scene.bytes, 'to the demand, not to what the other one had');
    t.ok(bytesOf(grown.positions).equals(bytesOf(roomy.positions)));
    t.strictSame([grown.steps, grown.searches], [roomy.steps, roomy.searches], 'no step was lost or taken twice');
    t.equal(small.scene.bytes, tight.memoryBudget.total, 'a scene knows what it holds');
    small.scene.close();
    t.equal(small.scene.bytes, 0);
  });

  t.test('With as many pairs as layers in dense contact a scene takes less than 4 kB a vertex.', async (t) => {
    // The room that the scene `layers` of 10,000 vertices has for its pairs (docs/measurements.md), 37 a vertex, on
    // fewer vertices.
    const sides = 38;
    const layers = new SceneBuilder();
    for (const z of [0, 10]) {
      const place = (u: number, v: number, moved: number) => [sides * u, sides * v, z + moved] as const;
      layers.sheet(sides, (u, v) => ({ at: place(u, v, 0), to: place(u, v, 0.1) }));
    }
    const { mesh, start, target } = layers.build();
    const { vertexCount } = mesh;
    const pairs = Math.round((373_252 / 10_082) * vertexCount);
    for (const quality of ['FAST', 'BALANCED'] as const) {
      const special = await openSpecialEngine(t, { firstPairs: pairs });
      const { scene, resolve } = await openCase(special, mesh, start, target, { quality });
      await resolve();
      // Only cards have lists of edges, and constraints packed behind the candidates.
      const { byLabel } = special.memoryBudget;
      const packed = Math.max(0, byLabel.get('candidates')! - 16 * (pairs + 1));
      const ofCards = packed + (byLabel.get('edgesAt') ?? 0) + (byLabel.get('edgeLists') ?? 0);
      // Uniforms for the rounds of a sweep have the same size in every scene.
      const bytes = (scene.bytes - ofCards - byLabel.get('sweepRanges')!) / vertexCount;
      t.ok(bytes < (quality === 'FAST' ? 3700 : 4000), `${bytes.toFixed(0)} bytes a vertex under ${quality}`);
      scene.close();
    }
  });

  t.test('Every intermediate state is safe while the room grows.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const judged = await resolveJudged(await openSpecialEngine(t, { firstPairs: 1 }), mesh, start, target);
    t.equal(judged.resolution.status, 'CONVERGED');
    t.equal(judged.intersections + judged.collisions, 0);
  });

  t.test(
    'A step with too little room for its candidates continues after the room has grown, with the same bytes.',
    async (t) => {
      const { mesh, start, target } = stackSwap(8).build();
      for (const search of shareOf(['DEVICE', 'HOST'] as const, 2)) {
        const tight = await openSpecialEngine(t, { firstCandidates: 1, search });
        const ample = await openSpecialEngine(t, { firstCandidates: 1 << 14, search });
        const small = await openCase(tight, mesh, start, target);
        const large = await openCase(ample, mesh, start, target);
        const [grown, roomy] = [await small.resolve(), await large.resolve()];
        t.ok(roomy.pairs.activeContacts > 50, 'there are contacts to have no room for');
        t.ok(bytesOf(grown.positions).equals(bytesOf(roomy.positions)), search);
        t.ok(bytesOf(grown.residuals).equals(bytesOf(roomy.residuals)));
        t.strictSame(
          [grown.steps, grown.searches, grown.pairs, grown.touchingPairs, grown.limitingPairs],
          [roomy.steps, roomy.searches, roomy.pairs, roomy.touchingPairs, roomy.limitingPairs],
          'no step was lost or taken twice, no contact excluded',
        );
        const [again, once] = [await small.resolve(), await large.resolve()];
        t.ok(bytesOf(again.positions).equals(bytesOf(once.positions)), 'a later request, with P taken over, too');
        t.strictSame([again.proximitySetReused, again.steps], [once.proximitySetReused, once.steps]);
        t.ok(small.scene.bytes < large.scene.bytes, 'it grew to the demand');
        t.equal(small.scene.bytes, tight.memoryBudget.total, 'a scene knows what it holds');
        small.scene.close();
        t.equal(tight.memoryBudget.total, 0);
      }
    },
  );

  t.test(
    'While there is no room for candidates nothing moves: every intermediate state is safe, and none is missing.',
    async (t) => {
      const { mesh, start, target } = stackSwap(6).build();
      const judged = await resolveJudged(await openSpecialEngine(t, { firstCandidates: 1 }), mesh, start, target);
      t.equal(judged.resolution.status, 'CONVERGED');
      t.equal(judged.intersections + judged.collisions, 0);
    },
  );

  t.test(
    'A run that stops between a search and the next step names no pairs of the P before as limiting.',
    async (t) => {
      const { mesh, start, target } = sheetOverHill(6);
      const parameters = { activationDistance: 0.1, leap: 0.3, reach: 0.05 };
      // P has new buffers, or a step after its search has found more candidates than there is room for.
      for (const label of shareOf(['pairVertex', 'candidates'], 2)) {
        let steps = 0;
        let isStopped = false;
        const afterAllocate = (buffer: GPUBuffer) => {
          isStopped ||= steps > 1 && buffer.label === label;
        };
        const tight = await openSpecialEngine(t, {
          firstPairs: 8,
          firstCandidates: 1,
          watch: { usage: 0, afterAllocate },
        });
        const stopped = await openCase(tight, mesh, start, target, parameters);
        const answer = await stopped.resolve({
          shouldStop: () => isStopped,
          onProgress: (progress) => {
            steps = progress.steps;
          },
        });
        t.equal(answer.status, 'DEADLINE');
        const limited = await openCase(engine, mesh, start, target, { ...parameters, stepLimit: answer.steps });
        const expected = await limited.resolve();
        t.ok(bytesOf(answer.positions).equals(bytesOf(expected.positions)), 'the state before the search');
        t.not(expected.limitingPairs.length, 0, 'there are limiting pairs');
        t.strictSame(answer.limitingPairs, [], label);
        for (const { scene } of [stopped, limited]) scene.close();
      }
    },
  );

  t.test('Candidates beyond the size of one binding are refused with demand and capacity.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    // P fits; all of it is close when the layers are this thick, which takes four times the room.
    const largestBinding = 98_304;
    const narrow = await openSpecialEngine(t, { firstPairs: 16, firstCandidates: 1, largestBinding });
    const { scene, resolve } = await openCase(narrow, mesh, start, target, { activationDistance: 0.015 });
    const refusal = await refusalOf(resolve());
    t.equal(refusal.code, 'TOO_LARGE');
    const [, demand, capacity] = /has (\d+) pairs closer than .* the (\d+) that/.exec(refusal.message) ?? [];
    t.equal(Number(capacity), Math.floor(largestBinding / 64), refusal.message);
    t.ok(Number(demand) > Number(capacity), refusal.message);
    t.equal((await refusalOf(resolve())).code, 'TOO_LARGE', 'as often as it is asked');
    scene.close();
    t.equal(narrow.memoryBudget.total, 0);
  });

  t.test(
    'A scene beyond the limit on device memory is refused with numbers and does not affect other scenes.',
    async (t) => {
      const { mesh, start, target } = stackSwap(6).build();
      const probe = await openCase(engine, mesh, start, target);
      await probe.resolve();
      const needed = probe.scene.bytes;
      const expected = await probe.resolve();
      probe.scene.close();
      const limit = Math.floor(1.5 * needed);
      const limited = await openSpecialEngine(t, { maxDeviceBytes: limit });
      const first = await openCase(limited, mesh, start, target);
      t.equal((await first.resolve()).status, 'CONVERGED');
      const refusal = await refusalOf(openCase(limited, mesh, start, target).then(({ resolve }) => resolve()));
      t.match(refusal, { code: 'OUT_OF_DEVICE_MEMORY', retryable: true });
      t.match(refusal.message, new RegExp(`needs \\d+ bytes.* of the ${limit} that may be used`));
      t.ok(limited.memoryBudget.total <= limit, 'never more than the limit');
      const again = await first.resolve();
      t.equal(again.status, 'CONVERGED');
      t.ok(bytesOf(again.positions).equals(bytesOf(expected.positions)), 'the first scene works as if alone');
      t.ok(limited.memoryBudget.total <= limit);
    },
  );

  t.test('An opening that fails halfway frees everything.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    for (const limit of [100_000]) {
      const limited = await openSpecialEngine(t, { maxDeviceBytes: limit });
      const refusal = await refusalOf(openCase(limited, mesh, start, target));
      t.equal(refusal.code, 'OUT_OF_DEVICE_MEMORY');
      t.equal(limited.memoryBudget.total, 0, `with ${limit} bytes`);
      await limited.close();
    }
  });

  t.test('The probe of a service fits into the limit that its refusal names.', async (t) => {
    const { mesh, start, target, parameters } = probeRequest();
    const limited = await openSpecialEngine(t, { maxDeviceBytes: ENOUGH_FOR_PROBE });
    const { resolve } = await openCase(limited, mesh, Float64Array.from(start), Float64Array.from(target), parameters);
    t.ok((await resolve()).steps > 0);
  });

  t.test('A scene without room to grow reports it, and works after others have closed.', async (t) => {
    const { mesh, start, target } = stackSwap(8).build();
    const roomy = await openCase(engine, mesh, start, target);
    await roomy.resolve();
    const needed = roomy.scene.bytes;
    roomy.scene.close();
    // A margin of three tenths, because old and new buffers exist at a time while a scene grows: two scenes at their
    // smallest fit, but not one with all its pairs and one without.
    const limited = await openSpecialEngine(t, { firstPairs: 1, maxDeviceBytes: Math.floor(1.3 * needed) });
    const crowd: Scene[] = [];
    const late = await openCase(limited, mesh, start, target);
    for (;;) {
      const other = await openCase(limited, mesh, start, target).catch(() => undefined);
      if (!other) break;
      crowd.push(other.scene);
    }
    t.ok(crowd.length > 0, 'others hold the rest');
    const refusal = await refusalOf(late.resolve());
    t.equal(refusal.code, 'OUT_OF_DEVICE_MEMORY');
    t.match(refusal.message, /\d+ bytes/);
    for (const scene of crowd) scene.close();
    const second = await late.resolve();
    t.equal(second.status, 'CONVERGED');
    t.ok(second.pairs.vertexTriangle > 100);
  });

  t.test('Pairs beyond the size of one binding are refused with demand and capacity.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const largestBinding = 65_536;
    const narrow = await openSpecialEngine(t, { firstPairs: 16, largestBinding });
    const { scene, resolve } = await openCase(narrow, mesh, start, target, { activationDistance: 0.02 });
    const refusal = await refusalOf(resolve());
    t.equal(refusal.code, 'TOO_LARGE');
    const [, demand, capacity] = /needs (\d+) pairs, more than the (\d+)/.exec(refusal.message) ?? [];
    t.equal(Number(capacity), Math.floor(largestBinding / 16));
    t.ok(Number(demand) > Number(capacity), refusal.message);
    t.equal((await refusalOf(resolve())).code, 'TOO_LARGE', 'as often as it is asked');
    scene.close();
    t.equal(narrow.memoryBudget.total, 0);
  });

  t.test('A mesh whose own buffers exceed a binding is refused at opening.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const narrow = await openSpecialEngine(t, { firstPairs: 1, largestBinding: 512 });
    const refusal = await refusalOf(openCase(narrow, mesh, start, target));
    t.equal(refusal.code, 'TOO_LARGE');
    t.match(refusal.message, /needs \d+ bytes in one buffer; this device allows 512/);
    t.equal(narrow.memoryBudget.total, 0);
  });
}
