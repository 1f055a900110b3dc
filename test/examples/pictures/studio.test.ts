import { PNG } from 'pngjs';
import t from 'tap';
import { launchChromium, MissingBrowserError } from '../../../examples/pictures/browser.js';
import { bodiesOf, GAP, HEADING, joined, type Sheet, sizeOf } from '../../../examples/pictures/sheet.js';
import { drawSheet, Studio } from '../../../examples/pictures/studio.js';
import { skipWithoutChromium } from '../../support/chromium.js';

/** A square that lies above an obstacle, a rod and three grains beside it. Metres. */
const square = (z: number): number[] => [0, 0, z, 0.1, 0, z, 0.1, 0.1, z, 0, 0.1, z];
const state = Float32Array.from([
  ...square(0.05),
  ...square(0),
  ...[0.12, 0, 0.01, 0.15, 0, 0.01, 0.18, 0.02, 0.01],
  ...[0.12, 0.05, 0.01, 0.15, 0.05, 0.01, 0.18, 0.05, 0.01],
]);
const RANGES = [
  { name: 'cloth', firstVertex: 0, vertexCount: 4 },
  { name: 'floor', firstVertex: 4, vertexCount: 4 },
  { name: 'rod', firstVertex: 8, vertexCount: 3 },
  { name: 'grains', firstVertex: 11, vertexCount: 3 },
];
const bodies = bodiesOf(
  RANGES,
  {
    triangles: Uint32Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7),
    segments: Uint32Array.of(8, 9, 9, 10),
    particles: Uint32Array.of(11, 12, 13),
  },
  ({ name }) => (name === 'cloth' ? [0.8, 0.1, 0.1] : [0.4, 0.4, 0.5]),
);
const panel = { width: 90, height: 60 };
const sheetOf = (shown = bodies, headings?: readonly string[]): Sheet => ({
  rows: [{ bodies: shown, states: [state, state], framed: joined([state]), view: [-0.4, 1, -0.5] }],
  panel,
  ...(headings ? { headings } : {}),
});

t.test('elements belong to the range of their vertices, and count from there', async (t) => {
  t.same(
    bodies.map(({ triangles, segments, particles }) => [[...triangles], [...segments], [...particles]]),
    [
      [[0, 1, 2, 0, 2, 3], [], []],
      [[0, 1, 2, 0, 2, 3], [], []],
      [[], [0, 1, 1, 2], []],
      [[], [], [0, 1, 2]],
    ],
  );
});

t.test('a missing browser is refused with what installs it', async (t) => {
  const { PATH } = process.env;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = '/nowhere';
  await t.rejects(launchChromium(), new MissingBrowserError());
  await t.rejects(drawSheet(sheetOf()), /deploy\/install-browser\.sh/);
});

t.test('pictures that the studio draws', { skip: skipWithoutChromium }, async (t) => {
  const studio = await Studio.open();
  t.teardown(() => studio.close());
  const draw = async (sheet: Sheet): Promise<PNG> => PNG.sync.read(await studio.draw(sheet));
  const all = await draw(sheetOf());
  /** pixels in which two pictures of a size differ clearly */
  const difference = (a: PNG, b: PNG): number => {
    let count = 0;
    for (let i = 0; i < a.data.length; i += 4) {
      if ([0, 1, 2].some((c) => Math.abs(a.data[i + c]! - b.data[i + c]!) > 12)) count += 1;
    }
    return count;
  };

  t.test('a picture has the requested size', async (t) => {
    t.same([all.width, all.height], [2 * panel.width + GAP, panel.height]);
    const headed = await draw(sheetOf(bodies, ['Start', 'Answer']));
    t.same([headed.width, headed.height], [2 * panel.width + GAP, panel.height + HEADING]);
    t.same(sizeOf(sheetOf(bodies, ['Start', 'Answer'])), { width: headed.width, height: headed.height });
    const above = headed.data.subarray(0, 4 * headed.width * (HEADING - GAP));
    t.ok(
      above.some((value, i) => i % 4 < 3 && value < 120),
      'the headings leave ink',
    );
    const below = new PNG({ width: all.width, height: all.height });
    PNG.bitblt(headed, below, 0, HEADING, all.width, all.height, 0, 0);
    t.equal(difference(all, below), 0, 'the panels below are the same');
  });

  t.test('a picture shows every body', async (t) => {
    const empty = await draw(sheetOf([]));
    t.ok(difference(all, empty) > 0.2 * panel.width * panel.height, 'bodies cover a part of the picture');
    for (const [b, { name }] of RANGES.entries()) {
      const without = await draw(sheetOf(bodies.filter((_, k) => k !== b)));
      t.ok(difference(all, without) > 20, `${name}: its absence is seen`);
    }
  });

  t.test('a picture has the colours of bodies and shadows on the ground', async (t) => {
    const cloth = bodies.filter((_, b) => b === 0);
    const alone = await draw(sheetOf(cloth));
    const empty = await draw(sheetOf([]));
    let [red, dark] = [0, 0];
    for (let i = 0; i < alone.data.length; i += 4) {
      const [r, g, b] = alone.data.subarray(i, i + 3);
      if (r! > g! + 80 && r! > b! + 80) red += 1;
      else if (Math.abs(r! - b!) < 20 && r! < empty.data[i]! - 20) dark += 1;
    }
    t.ok(red > 200, `${red} pixels are red`);
    t.ok(dark > 50, `${dark} pixels of the ground are in the shadow`);
  });

  t.test('a picture is the same when it is drawn again', async (t) => {
    const again = await studio.draw(sheetOf());
    t.ok(PNG.sync.read(again).data.equals(all.data));
  });
});
