import { openOperations } from '../../examples/resolve-scene.js';
import type { Quality } from '../../src/contract/parameters.js';
import { alignTable } from '../table.js';
import { solveDense } from './dense-program.js';
import { sheetOf } from './sheet.js';

/**
 * Strain limits: a small sheet against the dense solution of its semidefinite program, then the sheet of the paper,
 * 9,600 triangles, stretched to twice its length and compressed to half its height, limits 0.99 to 1.01, from rest and
 * from the target, which is far outside the limits.
 *
 *   node dist/bench/strain/run.js [cpu | webgpu]
 */

const LIMITS = { min: 0.99, max: 1.01 };
const SIZES = [
  { nx: 4, ny: 3, hasDense: true },
  { nx: 6, ny: 5, hasDense: true },
  { nx: 80, ny: 60, hasDense: false },
] as const;
const QUALITIES: readonly Quality[] = ['BALANCED', 'FINE'];
const STARTS = ['rest', 'target'] as const;

const processorSeconds = () => process.cpuUsage().user / 1e6;

const rms = (x: ArrayLike<number>, y: ArrayLike<number>): number => {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += (x[k]! - y[k]!) ** 2;
  return Math.sqrt((3 * sum) / x.length);
};

/** Triangles whose normal points down. */
function countFlipped(x: ArrayLike<number>, triangles: Uint32Array): number {
  let flipped = 0;
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => 3 * triangles[k + i]!) as [number, number, number];
    const area = (x[b]! - x[a]!) * (x[c + 1]! - x[a + 1]!) - (x[b + 1]! - x[a + 1]!) * (x[c]! - x[a]!);
    if (area <= 0) flipped++;
  }
  return flipped;
}

const engine = process.argv[2] ?? 'cpu';
if (engine !== 'cpu' && engine !== 'webgpu') throw new Error(`There is no engine ${engine}.`);
const operations = await openOperations(engine, 1);
const rows = [
  [
    'triangles',
    'quality',
    'start',
    'steps',
    'out of limits',
    'smallest',
    'largest',
    'turned over',
    'rms to target',
    'dense',
    'gap',
    'cpu s',
  ],
];
try {
  for (const { nx, ny, hasDense } of SIZES) {
    const { vertexCount, rest, triangles } = sheetOf(nx, ny);
    const target = rest.map((value, k) => value * [2, 0.5, 1][k % 3]!);
    const plane = Float64Array.from({ length: 2 * vertexCount }, (_, k) => rest[3 * (k >> 1) + (k & 1)]!);
    const program = { rest: plane, triangles, least: LIMITS.min, most: LIMITS.max };
    const dense = hasDense ? rms(solveDense(program, target), target) : undefined;
    const runs = QUALITIES.flatMap((quality) => STARTS.map((start) => ({ quality, start })));
    for (const { quality, start } of runs) {
      const before = processorSeconds();
      const mesh = { vertexCount, triangles, strainLimits: { rest, ...LIMITS } };
      const { positions, report } = await operations.resolve({
        ...{ mesh, target, parameters: { quality } },
        start: start === 'rest' ? rest : target,
      });
      const own = rms(positions, target);
      const { violated, min, max } = report.strain!;
      rows.push([
        String(triangles.length / 3),
        quality,
        start,
        String(report.steps),
        String(violated),
        min.toFixed(4),
        max.toFixed(4),
        String(countFlipped(positions, triangles)),
        own.toFixed(4),
        dense === undefined ? '' : dense.toFixed(4),
        dense === undefined ? '' : `${(100 * (own / dense - 1)).toFixed(2)} %`,
        (processorSeconds() - before).toFixed(1),
      ]);
    }
  }
} finally {
  await operations.close();
}
process.stdout.write(`Lengths in edges; strains within ${LIMITS.min} to ${LIMITS.max}.\n\n${alignTable(rows)}\n`);
