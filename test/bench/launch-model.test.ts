import t from 'tap';
import { barOf, type Counts, H100, modelOf } from '../../bench/launches/model.js';
import { countTurns } from '../../bench/launches/turns.js';
import type { Launch } from '../../bench/launches/watch.js';

const NOTHING: Counts = { dispatches: 0, turns: 0, readings: 0, bytesRead: 0, steps: 0, bytesHeld: 0 };

t.test('the model charges each thing that is counted with its own constant', async (t) => {
  t.equal(modelOf(NOTHING).all, 0);
  const near = (actual: number, expected: number, what: string) =>
    t.ok(Math.abs(actual - expected) < 1e-9, `${what}: ${actual} for ${expected}`);
  near(
    modelOf({ ...NOTHING, dispatches: 1000 }).all,
    H100.dependentDispatch + H100.recording,
    'ms a thousand dispatches',
  );
  near(modelOf({ ...NOTHING, turns: 1000 }).all, H100.turn, 'ms a thousand turns');
  near(modelOf({ ...NOTHING, readings: 10 }).all, 10 * H100.roundTrip, 'ms ten readings');
  near(modelOf({ ...NOTHING, bytesRead: 1e9 }).all, 1000 / H100.readBack, 'ms a gigabyte read');
  near(modelOf({ ...NOTHING, steps: 2, bytesHeld: 1e9 }).all, 2000 / H100.memory, 'ms twice a gigabyte of memory');
  const counts = { dispatches: 397, turns: 500, readings: 10, bytesRead: 4e5, steps: 8, bytesHeld: 3e7 };
  const { all, ...parts } = modelOf(counts);
  near(
    all,
    Object.values(parts).reduce((sum, part) => sum + part, 0),
    'the sum of its parts',
  );
});

t.test('bars belong to a scene, a request, FAST and a size', async (t) => {
  t.equal(barOf('dress', 'FAST', 'first', 27_831), 1.5);
  t.equal(barOf('layers', 'FAST', 'slow frame', 69_938), 1);
  t.equal(barOf('layers', 'FAST', 'first', 500_000), 40);
  t.equal(barOf('layers', 'FAST', 'first', 69_938), undefined);
  t.equal(barOf('dress', 'BALANCED', 'first', 27_831), undefined);
});

const launch = (entry: Launch['entry'], passes = 0, turnsOfPass = 0, didWork = true): Launch => ({
  entry,
  didWork,
  passes,
  turnsOfPass,
});

t.test('turns: of a sweep, of a step with all of its sweeps, and of the request', async (t) => {
  // Two colours that whole dispatches sweep, then two of 1,500 and of 10 edges: two turns and one.
  const plan = { colours: Uint32Array.of(0, 5000, 9000, 10_500, 10_510), wideColours: 2 };
  const launches = [
    launch('edgesTail'),
    launch('sweepTail', 1, 20),
    launch('edgesTail'),
    launch('sweepTail', 1, 20),
    launch('decide'),
    launch('sweepListedEdges'),
    launch('sweepListed', 3, 10),
    launch('decide'),
    launch('sweepTail', 0, 0, false),
    launch('decide', 0, 0, false),
    launch('colourTail', 1, 25),
    launch('sweepSmall', 2, 5),
    launch('decidePull'),
  ];
  t.strictSame(countTurns(launches, plan), {
    ...{ ofSweep: 20, ofPullBack: 5, ofColouring: 25, ofStep: 40, overContacts: 105 },
    // twice three turns; then four colours first, four in each of two further sweeps, and in each of the pull-back's
    overEdges: 2 * 3 + 4 + 2 * 4 + 2 * 4,
  });
});
