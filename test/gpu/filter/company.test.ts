import { createHash } from 'node:crypto';
import t from 'tap';
import { Convoy } from '../../../gpu/convoy/convoy.js';
import { DeviceMemory, type PlaceSource } from '../../../gpu/device/memory.js';
import type { Place } from '../../../gpu/device/place.js';
import { DeviceStateFilter } from '../../../gpu/filter/state-filter.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { decideDoubtful } from '../../../src/verify/state.js';
import { seeded } from '../../support/random.js';
import { PROTECT } from '../../verify/make-mesh.js';
import { openFilterDevice, verdictOf } from './filter-device.js';
import { randomTopology, scatter } from './soups.js';

/** Filters of scenes that submit together. */

const { device, options, close } = await openFilterDevice();
t.teardown(close);
const random = seeded();
t.comment(`seed ${random.seed}`);

interface Subject {
  readonly mesh: CollisionMesh;
  readonly x: Float32Array;
}

const subjects: readonly Subject[] = Array.from({ length: 6 }, () => {
  const mesh = randomTopology(random, 60 + random.int(100));
  return { mesh, x: Float32Array.from(scatter(mesh, random, (value) => value)) };
});

if (!device) t.test('filters of scenes that submit together', options, async () => undefined);
else {
  const convoy = new Convoy(device.memory.fork(), true, { scenes: 8, delay: 50 });
  t.teardown(() => convoy.close());

  const open = ({ mesh }: Subject, arena: PlaceSource = convoy.arena): Promise<DeviceStateFilter> => {
    const { budget } = device.memory;
    const memory = new DeviceMemory(device.memory.device, budget, undefined, undefined, arena);
    return DeviceStateFilter.open({ ...device, memory, convoy }, mesh);
  };
  /** All that is said of a state; a device lists pairs in any order. */
  const tell = async (filter: DeviceStateFilter, { mesh, x }: Subject): Promise<string> => {
    const doubtful = await filter.findDoubtful(x);
    if (!doubtful) throw new Error('The filter gave up.');
    const { pairs, pairsTested } = doubtful;
    const listed = Array.from({ length: pairs.length / 2 }, (_, k) => `${pairs[2 * k]}-${pairs[2 * k + 1]}`).sort();
    const verdict = verdictOf(decideDoubtful(mesh, x, PROTECT, { pairs, pairsTested }));
    const digest = createHash('sha256').update(JSON.stringify({ listed, verdict })).digest('hex');
    return `${pairsTested} pairs tested, ${listed.length} in doubt, ${verdict.intersectionCount} meet, ${digest}`;
  };
  const tellAlone = async (subject: Subject): Promise<string> => {
    const filter = await DeviceStateFilter.open({ ...device, memory: device.memory.fork() }, subject.mesh);
    const told = await tell(filter, subject);
    filter.close();
    return told;
  };
  const alone: string[] = [];
  for (const subject of subjects) alone.push(await tellAlone(subject));

  t.test('A state gets the same verdict alone and together with others, in one submission.', async (t) => {
    const filters: DeviceStateFilter[] = [];
    for (const subject of subjects) filters.push(await open(subject));
    // The first states upload the meshes.
    for (const [n, filter] of filters.entries())
      t.equal(await tell(filter, subjects[n]!), alone[n], 'nobody else asks');
    const before = convoy.counts;
    const together = await Promise.all(filters.map((filter, n) => tell(filter, subjects[n]!)));
    t.strictSame(together, alone);
    const { submissions, parts, dispatches, launches } = convoy.counts;
    t.equal(parts - before.parts, subjects.length);
    t.equal(submissions - before.submissions, 1);
    t.ok(launches - before.launches > 3 * (dispatches - before.dispatches), 'filters share their dispatches');
    const bytes = device.ledger.total;
    for (const filter of filters) filter.close();
    t.ok(device.ledger.total < bytes, 'closed filters give their places back');
  });

  /** An arena in which all filters have one place by this label, as if all but one began at a wrong offset. */
  const mixingUp = (label: string): PlaceSource => {
    const places = new Map<number, Place>();
    return {
      take: (asked, bytes) => {
        const own = convoy.arena.take(asked, bytes);
        const shared = asked === label ? places.get(own.size) : undefined;
        if (asked === label && !shared) places.set(own.size, own);
        return shared ?? own;
      },
      give: (place) => convoy.arena.give(place),
      settle: (taken) => convoy.arena.settle(taken),
      freeBytes: 0,
    };
  };

  for (const label of ['filter positions', 'filter tree', 'filter counts', 'filter walk']) {
    t.test(`Planted fault: the ${label} of another scene`, async (t) => {
      // As many vertices and triangles, so that places are as long.
      const [one] = subjects as [Subject];
      const { mesh } = one;
      const two: Subject = { mesh, x: Float32Array.from(scatter(mesh, random, (value) => value)) };
      const sound = [alone[0], await tellAlone(two)];
      const arena = mixingUp(label);
      const filters = [await open(one, arena), await open(two, arena)];
      const answers = await Promise.all(
        [one, two].map((subject, n) => tell(filters[n]!, subject).catch((thrown) => String(thrown))),
      );
      t.notSame(answers, sound, answers.join('; '));
    });
  }
}
