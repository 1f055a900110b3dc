import type { Test } from 'tap';
import { AIM_GROWTH } from '../../src/solver/constants.js';
import type { Engine } from '../../src/solver/engine.js';
import {
  grainsOnTable,
  type OffsetFrame,
  offsetFrames,
  type PressedPair,
  sheetsOnTable,
} from '../support/contact-gaps.js';
import { examplePair } from '../support/nearness.js';

/** Share of the offset asked for that the median gap of pressed layers has at least, and the smallest one. */
const REACHED = 0.9;
const LEAST_REACHED = 0.6;

/** What the gaps of a frame may be below those of the second: a motion shorter than 0.02 δ is not made. */
const SLACK = 0.02;

const DELTA = 0.01;

const PRESSED: readonly {
  readonly name: string;
  readonly pair: () => PressedPair;
  readonly shares: readonly number[];
}[] = [
  { name: 'a sheet on a table', pair: () => sheetsOnTable(1, 0.02, 0.05), shares: [0.1, 0.4, 0.8] },
  { name: 'a sheet from far above to far below', pair: () => sheetsOnTable(1, 0.2, 1), shares: [0.25] },
  { name: 'two sheets on a table', pair: () => sheetsOnTable(2, 0.02, 0.05), shares: [0.25, 0.4] },
];

/** What every engine owes a contact offset. */
export function testContactOffset(t: Test, engine: Engine): void {
  for (const { name, pair, shares } of PRESSED) {
    t.test(`${name}: contacts are as far apart as requested`, async (t) => {
      for (const share of shares) {
        const [frame] = await offsetFrames(engine, pair(), askFor(share), 1);
        const told = `${share} δ asked: ${describe(frame)}`;
        t.equal(frame.intersections, 0);
        t.ok(frame.contacts > 50, told);
        t.ok(frame.median >= REACHED * share, told);
        t.ok(frame.least >= LEAST_REACHED * share, told);
      }
    });
  }

  t.test('an offset of the whole δ lets grains fall as far as it allows', async (t) => {
    const [frame] = await offsetFrames(engine, grainsOnTable(4, 8), askFor(1), 1);
    t.equal(frame.intersections, 0);
    t.ok(frame.least >= 0.9, describe(frame));
    // Layer k has room for k tenths of δ and wants five. Where all stay, the rms is 0.29 δ a coordinate.
    t.ok(frame.rms <= 0.15 * DELTA, `rms ${frame.rms / DELTA} δ`);
  });

  t.test('frames of a session neither reduce gaps nor drift away from the target', async (t) => {
    const scenes = [
      { name: 'two sheets', pair: sheetsOnTable(2, 0.02, 0.05), asked: askFor(0.25) },
      { name: 'solid', pair: examplePair('solid'), asked: examplePair('solid').parameters },
    ];
    for (const { name, pair, asked } of scenes) {
      const frames = await offsetFrames(engine, pair, asked, 8);
      const second = frames[1];
      frames.slice(2).forEach((frame, k) => {
        const told = `${name}, frame ${k + 3}: ${describe(frame)}; the second: ${describe(second)}`;
        t.ok(frame.least >= second.least - SLACK, told);
        t.ok(frame.median >= second.median - SLACK / 4, told);
      });
      const [first, last] = [frames[0], frames[7]];
      t.ok(last.rms <= 1.002 * first.rms, `${name}: rms ${last.rms}, in the first frame ${first.rms}`);
    }
  });

  t.test('a start with tiny gaps is brought to the offset gradually', async (t) => {
    // The sheet begins at 0.1 δ and its target is below the table.
    const frames = await offsetFrames(engine, sheetsOnTable(1, 0.1 * DELTA, 0.05), askFor(0.5), 5);
    frames.forEach(({ median }, k) => {
      // An eighth of δ a request, and what a step leaves over because its motion would be too short.
      t.ok(median <= Math.min(0.5, 0.1 + AIM_GROWTH * (k + 1)) + SLACK, `frame ${k + 1}: ${median} δ`);
    });
    t.ok(frames[0].median >= 0.1, 'it is not pressed together either');
    t.ok(frames[4].median >= REACHED * 0.5, `after five frames ${frames[4].median} δ`);
  });
}

const askFor = (share: number) => ({ activationDistance: DELTA, contactOffset: share * DELTA });

const describe = ({ least, median, contacts }: OffsetFrame): string =>
  `${least.toFixed(3)} δ at least, median ${median.toFixed(3)} of ${contacts} vertices`;
