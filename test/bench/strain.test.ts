import t from 'tap';
import { solveDense } from '../../bench/strain/dense-program.js';
import { sheetOf } from '../../bench/strain/sheet.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';

const distance = (x: ArrayLike<number>, y: ArrayLike<number>): number => {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += (x[k]! - y[k]!) ** 2;
  return Math.sqrt(sum);
};

t.test('the dense program finds what is known: an equilateral triangle grows and shrinks about its centre', (t) => {
  const rest = [0, 1, 2].flatMap((k) => [Math.cos((2 * Math.PI * k) / 3), Math.sin((2 * Math.PI * k) / 3)]);
  const program = { rest, triangles: [0, 1, 2], least: 0.8, most: 1.5 };
  for (const [wanted, allowed] of [
    [2, 1.5],
    [0.3, 0.8],
    [1.2, 1.2],
  ] as const) {
    const place = (factor: number) => [0, 1, 2].flatMap((k) => [factor * rest[2 * k]!, factor * rest[2 * k + 1]!, 0]);
    t.ok(distance(solveDense(program, place(wanted)), place(allowed)) < 1e-6, `${wanted}`);
  }
  t.end();
});

t.test('an answer is as near to its target as the semidefinite program allows', async (t) => {
  const { vertexCount, rest, triangles } = sheetOf(4, 3);
  const limits = { min: 0.99, max: 1.01 };
  const target = rest.map((value, k) => value * [2, 0.5, 1][k % 3]!);
  const plane = Float64Array.from({ length: 2 * vertexCount }, (_, k) => rest[3 * (k >> 1) + (k & 1)]!);
  const dense = solveDense({ rest: plane, triangles, least: limits.min, most: limits.max }, target);
  const mesh = { vertexCount, triangles, strainLimits: { rest, ...limits } };
  const { answer } = await runJob({ mesh, start: rest, target, parameters: {} }, createCpuEngine());
  const gap = distance(answer.positions, target) / distance(dense, target) - 1;
  // What the last steps stay within the limits by is a few hundredths of their range, 0.1 % here.
  t.ok(gap > -1e-3 && gap < 3e-3, `${gap}`);
  // The two are the same place, not merely as far away.
  t.ok(distance(answer.positions, dense) < 0.01 * distance(dense, target), `${distance(answer.positions, dense)}`);
});
