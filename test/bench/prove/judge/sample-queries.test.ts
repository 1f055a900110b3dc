import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findMeeting } from '../../../../bench/prove/judge/moving-pair.js';
import type { Vector } from '../../../../bench/prove/judge/nearest.js';

const data = process.env.INTERSTICE_DATA;

/** All queries' coordinates are dyadic, so that the quotient of two doubles is the very number. */
function toDouble(numerator: string, denominator: string): number {
  const value = Number(BigInt(numerator)) / Number(BigInt(denominator));
  let [scaled, power] = [value, 0n];
  while (!Number.isInteger(scaled)) [scaled, power] = [scaled * 2, power + 1n];
  if (BigInt(scaled) * BigInt(denominator) !== BigInt(numerator) << power) throw new Error('no double');
  return value;
}

t.test(
  'the judge of paths misses none of the exact queries',
  { skip: data ? false : 'INTERSTICE_DATA is not set' },
  async (t) => {
    const root = join(data as string, 'sample_queries');
    const tally = { queries: 0, collide: 0, missed: 0, falseAlarms: 0 };
    for (const scene of readdirSync(root)) {
      for (const folder of ['vertex-face', 'edge-edge'].filter((name) =>
        readdirSync(join(root, scene)).includes(name),
      )) {
        for (const file of readdirSync(join(root, scene, folder))) {
          const rows = readFileSync(join(root, scene, folder, file), 'utf8')
            .trim()
            .split('\n');
          for (let first = 0; first + 8 <= rows.length; first += 8) {
            const cells = rows.slice(first, first + 8).map((row) => row.trim().split(','));
            const points = cells.map(([a, b, c, d, e, f]): Vector => [toDouble(a, b), toDouble(c, d), toDouble(e, f)]);
            const time = findMeeting(points.slice(0, 4), points.slice(4), folder === 'vertex-face' ? 1 : 2);
            tally.queries++;
            if (cells[0][6] === '1') {
              tally.collide++;
              if (time === undefined) tally.missed++;
            } else if (time !== undefined) tally.falseAlarms++;
          }
        }
      }
    }
    t.comment(JSON.stringify(tally));
    t.equal(tally.queries, 7279);
    t.equal(tally.missed, 0);
    // Pairs that graze within rounding; a judge that called everything a collision would be useless.
    t.ok(tally.falseAlarms <= 250, `${tally.falseAlarms} false alarms`);
  },
);
