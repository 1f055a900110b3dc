import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readFlags } from '../../../bench/command-line.js';
import { writeWhole } from '../../../bench/whole-file.js';
import '../../../bench/closed-pipe.js';
import { SCENES } from '../scenes/index.js';
import { type Scene, SIZES, type Size } from '../scenes/types.js';
import { type State, startOf } from '../src/integrator.js';
import type { Model } from '../src/model.js';
import { FrameCache } from './cache.js';
import { describeElements, judgeOrder, modelOf } from './play.js';
import { makePlot, plotSpins, plotTogether } from './plot.js';
import type { Played, StepRecord } from './records.js';
import { publishedFile, RESULTS, readPublished, readRecords, titleOfPublished } from './saved-records.js';
import { makeStepsTable, makeTable, makeWindowsTable } from './table.js';

const HELP = `node dist/examples/solver/runner/publish.js [options]

Gathers what npm run scenes has saved into a folder that is small enough to keep: the records of every run, compressed, its plot and
its strip of pictures; figures that compare runs; a table, and what is missing; and short tables into a document. Runs that were published before, and are not in the
folder of the runner, or came farther than what is there, stay.

  --from FOLDER    default: out/scenes
  --to FOLDER      default: examples/solver/results
  --document FILE  default: docs/scenes.md, where its short tables are marked
`;

/** A folder of the runner, with its contents. */
interface Found {
  readonly title: string;
  readonly size: Size;
  readonly isWindow: boolean;
  readonly played: Played;
}

/** Verdicts on knots and piles, by title, because the frames that show them are not published. */
type Verdicts = Record<string, Pick<Played, 'knot' | 'pile'>>;

/** @returns undefined for titles of other things, and for runs without a frame */
function find(
  title: string,
  records: readonly StepRecord[],
  judge: (scene: Scene, model: Model, begin: State) => Verdicts[string],
): Found | undefined {
  const [, name, size, window] = title.match(/^(.+)-(small|quarter|full)(-contested)?$/) ?? [];
  const make = SCENES.get(name ?? '');
  if (!make || records.length === 0) return undefined;
  const scene = make(size as Size);
  const model = modelOf(scene);
  const firstFrame = records[0]!.frame - 1;
  const played: Played = {
    ...{ scene, records, size: size as Size, vertices: model.vertexCount, elements: describeElements(model) },
    adapter: [...new Set(records.map(({ engine }) => engine))].join(', '),
    firstFrame,
    ...judge(scene, model, { ...startOf(model), frame: firstFrame }),
  };
  return { title, size: size as Size, isWindow: window !== undefined, played };
}

/** Runs in the folder of the runner; none before the first run. */
const findPlayed = (from: string): Found[] =>
  (existsSync(from) ? readdirSync(from) : []).flatMap((title) => {
    const folder = join(from, title);
    const judge = (scene: Scene, model: Model, begin: State) =>
      judgeOrder(scene, model, new FrameCache(folder, model, begin));
    return find(title, readRecords(folder), judge) ?? [];
  });

/** Runs that were already published. */
function findPublished(to: string): Found[] {
  const folder = join(to, 'records');
  if (!existsSync(folder)) return [];
  const file = join(folder, VERDICTS);
  const verdicts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Verdicts) : {};
  return readdirSync(folder).flatMap((name) => {
    const title = titleOfPublished(name);
    return title === undefined ? [] : (find(title, readPublished(to, title), () => verdicts[title] ?? {}) ?? []);
  });
}

const VERDICTS = 'verdicts.json';

/** Complete runs of one size whose scenes' names have this prefix, in the order of the scenes. */
const family = (all: readonly Found[], size: Size, prefix: string): Played[] =>
  all
    .filter((found) => found.size === size && !found.isWindow)
    .map(({ played }) => played)
    .filter(({ scene, records }) => scene.name.startsWith(prefix) && records.length === scene.frames);

/** Scenes of a size that have not been played to their end, each with its number of frames. */
function missing(all: readonly Found[], size: Size): string {
  const lacking = [...SCENES.keys()].flatMap((name) => {
    const scene = SCENES.get(name)!(size);
    const of = (isWindow: boolean): number =>
      all.find((f) => f.size === size && f.isWindow === isWindow && f.played.scene.name === name)?.played.records
        .length ?? 0;
    const [whole, window] = [of(false), of(true)];
    if (whole === scene.frames) return [];
    return [`${name} (${whole} of ${scene.frames}${window > 0 ? `, ${window} contested` : ''})`];
  });
  return lacking.length === 0 ? 'none' : lacking.join(', ');
}

/** Replaces the marked place of a document by a short table. */
function place(document: string, text: string, mark: string, table: string): string {
  const marked = new RegExp(`(<!-- generated: ${mark} -->\\n)[\\s\\S]*?(<!-- end -->)`);
  if (!marked.test(text)) throw new Error(`${document} does not mark where the table "${mark}" is to stand.`);
  return text.replace(marked, (_all, open: string, close: string) => `${open}${table}\n${close}`);
}

function publish(from: string, to: string, document: string): void {
  const order = [...SCENES.keys()];
  const published = findPublished(to);
  const lengthOf = (title: string): number => published.find((one) => one.title === title)?.played.records.length ?? 0;
  const fresh = findPlayed(from).filter(({ title, played }) => played.records.length >= lengthOf(title));
  const kept = published.filter(({ title }) => !fresh.some((found) => found.title === title));
  // Scenes in their order, the largest size first.
  const all = [...fresh, ...kept].sort(
    (a, b) =>
      order.indexOf(a.played.scene.name) - order.indexOf(b.played.scene.name) ||
      SIZES.indexOf(b.size) - SIZES.indexOf(a.size),
  );
  for (const { title, played } of fresh) {
    writeWhole(publishedFile(to, title), gzipSync(readFileSync(join(from, title, 'steps.jsonl')), { level: 9 }));
    writeWhole(join(to, 'plots', `${title}.svg`), makePlot(played));
    const strip = join(from, title, 'strip.png');
    if (existsSync(strip)) writeWhole(join(to, 'strips', `${title}.png`), readFileSync(strip));
  }
  const verdicts: Verdicts = Object.fromEntries(
    all.flatMap(({ title, played: { knot, pile } }) =>
      knot || pile ? [[title, { ...(knot ? { knot } : {}), ...(pile ? { pile } : {}) }]] : [],
    ),
  );
  writeWhole(join(to, 'records', VERDICTS), `${JSON.stringify(verdicts, null, 1)}\n`);
  const text = [
    '# Scenes that were played',
    '`npm run scenes`, gathered by `node dist/examples/solver/runner/publish.js`.',
  ];
  for (const size of SIZES) {
    const spins = family(all, size, 'spin-');
    if (spins.length > 1) writeWhole(join(to, 'figures', `spin-${size}.svg`), plotSpins(spins));
    const funnels = family(all, size, 'funnel-');
    const heading = `funnel, ${size}: time steps of different lengths`;
    if (funnels.length > 1) writeWhole(join(to, 'figures', `funnel-${size}.svg`), plotTogether(heading, funnels));
    const ofSize = all.filter((found) => found.size === size).map(({ played }) => played);
    if (ofSize.length === 0) continue;
    text.push(`## Size ${size}`, makeTable(ofSize).trim());
    if (size !== 'small') text.push(`Not played to their end: ${missing(all, size)}.`);
  }
  writeWhole(join(to, 'table.md'), `${text.join('\n\n')}\n`);
  const playedOf = (isWindow: boolean): Played[] =>
    all.filter((found) => found.isWindow === isWindow).map(({ played }) => played);
  const told = place(document, readFileSync(document, 'utf8'), 'steps', makeStepsTable(playedOf(false)));
  writeWhole(document, place(document, told, 'contested', makeWindowsTable(playedOf(true))));
}

const values = readFlags(HELP, {
  options: {
    from: { type: 'string', default: join('out', 'scenes') },
    to: { type: 'string', default: RESULTS },
    document: { type: 'string', default: join('docs', 'scenes.md') },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else publish(values.from, values.to, values.document);
