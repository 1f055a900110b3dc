import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pathMeets } from '../../src/verify/path.js';

const data = process.env.INTERSTICE_DATA;

const FOLDERS = [
  ['vertex-face', 'VERTEX_TRIANGLE'],
  ['edge-edge', 'EDGE_EDGE'],
] as const;

/**
 * The double equal to numerator / denominator; throws where there is none, so the truth is about the very numbers
 * tested.
 */
function toDouble(numerator: string, denominator: string): number {
  const value = Number(BigInt(numerator)) / Number(BigInt(denominator));
  const [whole, power] = scaleUp(value);
  if (whole * BigInt(denominator) !== BigInt(numerator) << BigInt(power)) {
    throw new Error(`${numerator}/${denominator} is no double`);
  }
  return value;
}

/** [w, k] with value = w / 2^k exactly. */
function scaleUp(value: number): [bigint, number] {
  let scaled = value;
  let power = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    power++;
  }
  return [BigInt(scaled), power];
}

t.test(
  'exact queries from simulations: every true collision is found',
  { skip: data ? false : 'INTERSTICE_DATA is not set' },
  async (t) => {
    const root = join(data as string, 'sample_queries');
    let queries = 0;
    let collisions = 0;
    let missed = 0;
    let falseAlarms = 0;
    for (const scene of readdirSync(root)) {
      for (const [folder, kind] of FOLDERS) {
        if (!readdirSync(join(root, scene)).includes(folder)) continue;
        for (const file of readdirSync(join(root, scene, folder))) {
          const rows = readFileSync(join(root, scene, folder, file), 'utf8')
            .trim()
            .split('\n');
          for (let first = 0; first + 8 <= rows.length; first += 8) {
            const cells = rows.slice(first, first + 8).map((row) => row.trim().split(','));
            const numbers = cells.flatMap(([a, b, c, d, e, f]) => [toDouble(a, b), toDouble(c, d), toDouble(e, f)]);
            const impact = pathMeets(
              kind,
              Float64Array.from(numbers.slice(0, 12)),
              Float64Array.from(numbers.slice(12)),
            );
            const collides = cells[0][6] === '1';
            queries++;
            if (collides) collisions++;
            if (collides && impact === undefined) missed++;
            if (!collides && impact !== undefined) falseAlarms++;
          }
        }
      }
    }
    t.comment(`${queries} queries, ${collisions} collide, ${falseAlarms} false alarms`);
    t.equal(queries, 7279);
    t.equal(missed, 0, 'no true collision is missed');
    t.ok(falseAlarms <= 210, `${falseAlarms} of ${queries - collisions} free queries raise a false alarm`);
  },
);
