import t from 'tap';
import { HOLDS, PATH_PHASES } from '../../src/contract/path.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine } from '../../src/solver/engine.js';
import { CASES, pinch } from '../solver/cases.js';
import { openTestEngine } from '../support/gpu.js';
import { spike as freeSpike, runJob } from '../support/job.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

/** The triangle below the spike stays where it is. */
function spike(height: number, travel: number, parameters: ResolveRequest['parameters']): ResolveRequest {
  const request = freeSpike(height, travel);
  return {
    ...request,
    mesh: { ...request.mesh, kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0) },
    parameters: { ...request.parameters, ...parameters },
  };
}

const phasesOf = ({ path }: ResolveAnswer) => [...new Set(path!.phases)].map((phase) => PATH_PHASES[phase]);

if (!engine) t.test('what holds a vertex, on the GPU engine', options, async () => undefined);
else {
  t.test('the path names the last step of kinematic vertices as such', async (t) => {
    const { mesh, start, target } = pinch(1e-3).build();
    const request: ResolveRequest = { mesh, start, target, parameters: { quality: 'FAST' }, include: { path: true } };
    t.ok(phasesOf((await runJob(request, createCpuEngine())).answer).includes('ARRIVAL'));
    t.ok(phasesOf((await runJob(request, engine)).answer).includes('ARRIVAL'));
  });

  for (const quality of ['FAST', 'BALANCED'] as const) {
    t.test(`${quality}: which pair holds each vertex, since when and how hard, is as on the CPU engine`, async (t) => {
      const request = { ...spike(1, 1.5, { quality }), include: { reasons: true, contacts: true } };
      const ask = async (on: Engine) => (await runJob(request, on)).answer;
      const [gpu, cpu] = [await ask(engine), await ask(createCpuEngine())];
      t.equal(HOLDS[gpu.reasons!.holds[3]!], 'CONTACT', 'the tip');
      t.same(gpu.reasons!.holds, cpu.reasons!.holds);
      t.same(gpu.reasons!.vertices, cpu.reasons!.vertices);
      t.ok(gpu.reasons!.since[3]! > 0);
      t.same(gpu.reasons!.since, cpu.reasons!.since);
      const [found, wanted] = [gpu.contacts!, cpu.contacts!];
      t.same(found.vertices, wanted.vertices);
      t.equal(found.multipliers?.length, wanted.multipliers?.length);
      for (const [c, multiplier] of (wanted.multipliers ?? []).entries()) {
        const difference = Math.abs(found.multipliers![c]! - multiplier);
        t.ok(
          difference <= 1e-4 * Math.max(multiplier, 1e-3),
          `contact ${c}: ${found.multipliers![c]} and ${multiplier}`,
        );
      }
      if (quality === 'BALANCED')
        t.ok(
          found.multipliers!.some((multiplier) => multiplier > 0),
          'the contact pushes',
        );
    });

    if (quality === 'BALANCED') {
      t.test('the total load of the contacts of a cloth on a plate is as on the CPU engine', async (t) => {
        const { mesh, start, target } = CASES.find(({ name }) => name === 'a plate rises under a cloth')!;
        const request: ResolveRequest = { mesh, start, target, parameters: { quality }, include: { contacts: true } };
        const sumOn = async (on: Engine) => {
          const { contacts } = (await runJob(request, on)).answer;
          return contacts!.multipliers!.reduce((sum, multiplier) => sum + multiplier, 0);
        };
        const [gpu, cpu] = [await sumOn(engine), await sumOn(createCpuEngine())];
        // The engines sweep in different orders and share a load among redundant contacts as they come; the load is the same.
        t.ok(cpu > 0 && Math.abs(gpu / cpu - 1) < 0.01, `${gpu} and ${cpu}`);
      });
    }

    t.test(`${quality}: no bit of the answer depends on which details are requested`, async (t) => {
      const request = spike(1, 1.5, { quality });
      const plain = (await runJob(request, engine)).answer;
      const asked = (await runJob({ ...request, include: { reasons: true, contacts: true } }, engine)).answer;
      t.same(asked.positions, plain.positions);
      t.equal(asked.report.steps, plain.report.steps);
    });
  }
}
