import t from 'tap';
import { lacksCluster } from '../../../bench/cluster/cluster.js';
import { describe, prove } from '../../../bench/cluster/proof.js';

/** `npm run cluster` at length, its second half; here as short as every event allows. Times are shown and not judged. */

// A machine that does much else takes minutes; nothing is judged by time.
t.setTimeout(600_000);

const isLong = process.env.INTERSTICE_LONG_TESTS !== '1' && 'half a minute of processor time: INTERSTICE_LONG_TESTS=1';

t.test('what happens to the store of a cluster costs no frame', { skip: isLong || lacksCluster }, async (t) => {
  const outcomes = await prove({
    workers: 3,
    sessions: 2,
    seconds: 0.2,
    // As from a simulation: without pauses, callers would take all cores for as long as servers start.
    frameMs: 40,
    restarts: 2,
    events: ['store'],
    redis: ['--appendonly', 'yes', '--appendfsync', 'everysec'],
    tell: (line) => t.comment(line),
  });
  t.equal(outcomes.length, 4);
  for (const outcome of outcomes) t.same(outcome.faults, [], describe(outcome));
});
