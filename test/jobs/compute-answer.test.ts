import t from 'tap';
import type { Timings } from '../../src/contract/report.js';
import { fakeEngine, resolution } from '../support/fake-engine.js';
import { type FakeClock, runJob, spike } from '../support/job.js';

const STAGES = [
  'queue',
  'decode',
  'upload',
  'search',
  'geometry',
  'backward',
  'forward',
  'verify',
  'readback',
] as const;
const sumOf = (timings: Timings) => STAGES.reduce((sum, stage) => sum + timings[stage], 0);

t.test('the stages add up to the total: the work of an engine outside its stages counts as readback', async (t) => {
  const clock: FakeClock = { time: 0 };
  const engine = fakeEngine((step) => {
    clock.time += 7;
    return { ...resolution(step, step.y.slice(), 'CONVERGED', 1), timings: times(1000, 2000, 500, 500) };
  });
  const { answer } = await runJob(spike(0.25, 0.05), engine, { clock });
  const { timings } = answer.report;
  t.match(timings, { search: 1000, geometry: 2000, backward: 500, forward: 500, readback: 3000, total: 7000 });
  t.equal(sumOf(timings), timings.total);
});

t.test('stages that claim more time than has passed reduce no other stage', async (t) => {
  const clock: FakeClock = { time: 0 };
  const engine = fakeEngine((step) => {
    clock.time += 1;
    return { ...resolution(step, step.y.slice(), 'CONVERGED', 1), timings: times(0, 0, 0, 9000) };
  });
  const { answer } = await runJob(spike(0.25, 0.05), engine, { clock });
  t.match(answer.report.timings, { forward: 9000, readback: 0 });
});

t.test('tests of pieces that run inside the engine count as verify only', async (t) => {
  const clock: FakeClock = { time: 0 };
  const engine = fakeEngine((step) => {
    clock.time += 2;
    step.onState?.(step.y);
    return { ...resolution(step, step.y.slice(), 'CONVERGED', 1), timings: times(0, 0, 0, 2000) };
  });
  // A slow reader of states.
  const { answer } = await runJob(spike(0.25, 0.05), engine, {
    clock,
    onState: () => {
      clock.time += 3;
    },
  });
  t.match(answer.report.timings, { forward: 2000, readback: 0 });
  t.ok(answer.report.timings.verify >= 3000);
});

const times = (search: number, geometry: number, backward: number, forward: number) => ({
  search,
  geometry,
  backward,
  forward,
});

t.test('a service that ends names no step for an answer that is an earlier state than the last one', async (t) => {
  const engine = fakeEngine((step) => {
    step.onState?.(step.y, { phase: 'FORWARD', step: 1 });
    return resolution(step, step.y.slice(), 'DEADLINE', 1);
  });
  // Its target pierces the triangle, so the start is sent.
  const { answer } = await runJob(spike(1, 1.5), engine, { isEnding: () => true });
  t.match(answer.report, { steps: 1, verification: { fellBack: true } });
  const told = answer.report.warnings.find(({ code }) => code === 'SERVER_SHUTS_DOWN');
  t.match(told?.message, /the answer is a safe state before the last of 1 step\./);
});
