import t from 'tap';
import { lacksCluster } from '../../../bench/cluster/cluster.js';
import { describe, prove } from '../../../bench/cluster/proof.js';

/** `npm run cluster` at length, its first half; here as short as every event allows. Times are shown and not judged. */

// A machine that does much else takes minutes; nothing is judged by time.
t.setTimeout(600_000);

/** Seven servers start, some of them while others answer. */
const isLong = process.env.INTERSTICE_LONG_TESTS !== '1' && 'over a minute of processor time: INTERSTICE_LONG_TESTS=1';

t.test('what happens to the servers of a cluster costs no frame', { skip: isLong || lacksCluster }, async (t) => {
  const outcomes = await prove({
    // Two are left when one is away, so sessions have a choice.
    workers: 3,
    sessions: 2,
    seconds: 0.2,
    // As from a slow simulation: with shorter pauses, callers would take most of the cores for as long as servers start.
    frameMs: 100,
    restarts: 2,
    events: ['servers'],
    redis: ['--appendonly', 'yes', '--appendfsync', 'everysec'],
    tell: (line) => t.comment(line),
  });
  t.equal(outcomes.length, 5);
  for (const outcome of outcomes) t.same(outcome.faults, [], describe(outcome));
});
