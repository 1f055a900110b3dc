import t from 'tap';
import { ActingItems } from '../../../src/solver/cpu/acting-items.js';
import { MOMENTUM_CHUNK, offsetsOf, PART, SweepPlan } from '../../../src/solver/cpu/sweep-plan.js';
import { seeded } from '../../support/random.js';

interface Chunk {
  readonly kind: number;
  readonly first: number;
  readonly end: number;
  readonly after: number;
}

const offsetsFrom = (sizes: readonly number[]): number[] => {
  const offsets = [0];
  for (const size of sizes) offsets.push(offsets.at(-1)! + size);
  return offsets;
};

const chunksOf = ({ parts, after }: SweepPlan): Chunk[] =>
  after.map((group, n) => ({ kind: parts[3 * n]!, first: parts[3 * n + 1]!, end: parts[3 * n + 2]!, after: group }));

t.test(
  'the chunks of sweeps have every item once, in order, and none of a colour waits for another of it',
  async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    for (let trial = 0; trial < 50; trial++) {
      const sizes = Array.from({ length: random.int(40) }, () => random.int(3 ** random.int(7)));
      const offsets = offsetsFrom(sizes);
      const touched = random.int(5 * MOMENTUM_CHUNK);
      const plan = new SweepPlan();
      plan.addMomentum(touched, 3000, 700, 100);
      plan.addColours(PART.CONTACTS, { offsets, colours: sizes.length });
      const once = plan.chunks;
      plan.repeat(3);
      const chunks = chunksOf(plan);
      t.equal(chunks.length, 3 * once);
      const isWhole = ({ after }: Chunk, n: number): boolean =>
        after <= n && (n === 0 || chunks[n - 1]!.after <= after) && chunks[after]!.after === after;
      t.ok(chunks.every(isWhole), 'groups follow each other');
      for (const { after, first, end } of chunks.filter(({ kind }) => kind === PART.DECIDE)) {
        const summed = chunks.slice(first, end);
        t.equal(end, after, 'the sums have ended');
        t.ok(summed.every((chunk) => chunk.kind === PART.MOMENTUM));
        t.equal(
          summed.reduce((sum, chunk) => sum + chunk.end - chunk.first, 0),
          touched,
        );
      }
      const colourOf = (item: number): number => offsets.findLastIndex((from) => from <= item);
      const isMixed = ({ kind, after, end }: Chunk, n: number): boolean =>
        kind === PART.CONTACTS && n > after && colourOf(chunks[after]!.first) !== colourOf(end - 1);
      t.notOk(chunks.some(isMixed), 'only chunks of one colour run at the same time');
      for (const part of [chunks.slice(0, once), chunks.slice(once, 2 * once), chunks.slice(2 * once)]) {
        let next = 0;
        const swept = part.filter(({ kind }) => kind === PART.CONTACTS);
        t.ok(swept.every(({ first, end }) => first === next && (next = end) >= first));
        t.equal(next, offsets.at(-1));
      }
    }
  },
);

t.test('rows that act after a complete sweep are listed colour by colour', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let trial = 0; trial < 50; trial++) {
    const sizes = Array.from({ length: 1 + random.int(12) }, () => random.int(600));
    const offsets = offsetsFrom(sizes);
    const all = { offsets, colours: sizes.length };
    const plan = new SweepPlan();
    plan.addColours(PART.CONTACTS, all);
    const items = new ActingItems(new Uint32Array(offsets.at(-1)!));
    const acts = Array.from(items.list, () => random() < 0.3);
    // As a sweep leaves it: the places of a chunk from its first one on.
    const counts = Int32Array.from(chunksOf(plan), ({ first, end }) => {
      let to = first;
      for (let n = first; n < end; n++) if (acts[n]) items.list[to++] = n;
      return to - first;
    });
    items.gather(PART.CONTACTS, plan, counts, all);
    const expected = acts.flatMap((isActing, n) => (isActing ? [n] : []));
    t.same([...items.list.subarray(0, items.count)], expected);
    t.same(
      [...(offsetsOf(items.list, items.count, all).offsets as Uint32Array)],
      offsets.map((from) => expected.filter((n) => n < from).length),
    );
    t.equal(items.colours, all.colours);
  }
});
