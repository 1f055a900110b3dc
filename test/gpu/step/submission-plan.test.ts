import t from 'tap';
import { PHASE, SEARCH_MODE, STATE } from '../../../gpu/kernels/constants.js';
import { CONTROL } from '../../../gpu/kernels/structs.js';
import type { ControlBlock } from '../../../gpu/step/answer.js';
import type { Precedes } from '../../../gpu/step/batch.js';
import { SubmissionPlan } from '../../../gpu/step/submission-plan.js';
import { seeded } from '../../support/random.js';

const NEW_CONTROL: ControlBlock = CONTROL.unpack(new ArrayBuffer(CONTROL.bytes));
const MOST = 8;

/** A request as a device would run it: the number of steps, and the steps before which it searches. */
interface Script {
  readonly steps: number;
  readonly searches: ReadonlySet<number>;
  readonly limit?: number;
  readonly isStepwise?: boolean;
  /** whether a search before the first step is partial */
  readonly keepsPairs?: boolean;
}

/** The cost of a request. */
interface Cost {
  readonly submitted: number;
  readonly readings: number;
  readonly pauses: number;
  /** searches that were recorded although none was due */
  readonly idleSearches: number;
  /** the largest excess of steps submitted for nothing over half of the steps done by then */
  readonly worstVain: number;
}

/** Plays the device and the loop of the host. */
function play(plan: SubmissionPlan, script: Script, hasPairs: boolean): Cost {
  const { steps, searches, limit = Number.POSITIVE_INFINITY, isStepwise = false, keepsPairs = false } = script;
  const end = Math.min(steps, limit);
  let [done, searched, submitted, readings, pauses, idleSearches, vain] = [0, 0, 0, 0, 0, 0, 0];
  let worstVain = Number.NEGATIVE_INFINITY;
  let isPaused = false;
  /** steps whose search is done */
  const served = new Set<number>();
  const isDue = () => done < end && searches.has(done) && !served.has(done);
  const inFlight: { steps: number; befores: Precedes[] }[] = [];
  const control = (): ControlBlock => ({
    ...NEW_CONTROL,
    state: isPaused ? STATE.NEEDS_SEARCH : STATE.RUNNING,
    steps: done,
    searches: searched,
    isReused: searches.has(0) && !keepsPairs ? 0 : 1,
    wantsSearch: isDue() ? SEARCH_MODE.ALL : SEARCH_MODE.NONE,
  });
  const precede = (before: Precedes): void => {
    if (before === 'SEARCH' && !isDue()) idleSearches++;
    if (before === 'SEARCH' && isDue()) {
      searched++;
      served.add(done);
    } else if (before === 'WATCH' && isDue()) isPaused = true;
    else if (isDue()) throw new Error(`No search precedes step ${done}, where one is due.`);
  };
  plan.begin(hasPairs, false);
  for (;;) {
    const flying = inFlight.reduce((sum, batch) => sum + batch.steps, 0);
    const next = plan.next(flying, MOST, limit - done - flying, isStepwise);
    if (next.steps > limit - done - flying) throw new Error('beyond the limit');
    if (next.steps > 0 || inFlight.length === 0) {
      const befores = Array.from({ length: next.steps }, (_, n) => (n === 0 ? next.precedes : next.between));
      inFlight.push({ steps: next.steps, befores: next.steps === 0 ? [next.precedes] : befores });
      submitted += next.steps;
      if (next.steps > 0 && inFlight.length < (isStepwise ? 1 : 2)) continue;
    }
    const batch = inFlight.shift();
    if (!batch) throw new Error('nothing in flight');
    readings++;
    const before = done;
    for (const each of batch.befores) {
      if (isPaused || done >= end) break;
      // With no step to follow, a plan that knows nothing looks at the status.
      if (batch.steps === 0 && each !== 'SEARCH') break;
      precede(each);
      if (!isPaused && batch.steps > 0) done++;
    }
    plan.observe(control(), batch.steps, done - before);
    vain += batch.steps - (done - before);
    const isOver = done >= end;
    if (isOver || isPaused) {
      for (const { steps } of inFlight.splice(0)) {
        plan.discard(steps);
        vain += steps;
      }
    }
    worstVain = Math.max(worstVain, vain - done / 2);
    if (isOver) {
      plan.end();
      return { submitted, readings, pauses, idleSearches, worstVain };
    }
    if (!isPaused) continue;
    isPaused = false;
    pauses++;
    plan.resume(STATE.NEEDS_SEARCH, control());
  }
}

const from = (...steps: number[]) => new Set(steps);

t.test('A first request submits at most half as many steps again as it needs.', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let n = 0; n < 300; n++) {
    const steps = 1 + Math.floor(60 * random());
    const share = random() ** 2;
    const searches = new Set([0, ...Array.from({ length: steps }, (_, k) => k).filter(() => random() < share)]);
    const limit = random() < 0.3 ? 1 + Math.floor(steps * random()) : Number.POSITIVE_INFINITY;
    const { worstVain } = play(new SubmissionPlan(false), { steps, searches, limit }, false);
    if (!(worstVain <= 0)) t.fail(`${steps} steps, limit ${limit}, searches ${[...searches]}: ${worstVain} too many`);
  }
});

t.test('A long request without pauses takes few readings.', async (t) => {
  const { readings } = play(new SubmissionPlan(false), { steps: 100, searches: from(0) }, false);
  // Eight steps per submission take 13 readings, and some twenty more precede the first submission of eight.
  t.ok(readings <= 34, `${readings} readings`);
});

t.test('A request like the last one is submitted at once, without unused steps.', async (t) => {
  const plan = new SubmissionPlan(false);
  play(plan, { steps: 9, searches: from(0) }, false);
  play(plan, { steps: 9, searches: from() }, true);
  const { submitted, readings, idleSearches } = play(plan, { steps: 9, searches: from() }, true);
  t.strictSame([submitted, idleSearches], [9, 0]);
  t.ok(readings <= 2, `${readings} readings`);
});

t.test('If P never serves the next request, its search is recorded with the opening.', async (t) => {
  const plan = new SubmissionPlan(false);
  play(plan, { steps: 12, searches: from(0) }, false);
  play(plan, { steps: 12, searches: from(0) }, true);
  const { pauses, submitted } = play(plan, { steps: 12, searches: from(0) }, true);
  t.strictSame([pauses, submitted], [0, 12]);
});

t.test('The same holds if P serves the next requests only with new boxes.', async (t) => {
  const plan = new SubmissionPlan(false);
  play(plan, { steps: 12, searches: from(0) }, false);
  const renewing = { steps: 12, searches: from(0), keepsPairs: true };
  t.equal(play(plan, renewing, true).pauses, 1);
  for (let n = 0; n < 3; n++) {
    const { pauses, submitted } = play(plan, renewing, true);
    t.strictSame([pauses, submitted], [0, 12]);
  }
});

t.test('If every other step searches, one pause reveals it.', async (t) => {
  const plan = new SubmissionPlan(false);
  const searches = new Set(Array.from({ length: 40 }, (_, k) => 2 * k));
  const { pauses, idleSearches } = play(plan, { steps: 60, searches }, false);
  t.ok(pauses <= 1, `${pauses} pauses`);
  t.ok(idleSearches <= 30, `${idleSearches} idle searches`);
});

t.test('The search that begins a request does not predict searches between its steps.', async (t) => {
  for (const hasPairs of [false, true]) {
    const plan = new SubmissionPlan(false);
    const { idleSearches } = play(plan, { steps: 12, searches: hasPairs ? from() : from(0) }, hasPairs);
    t.equal(idleSearches, 0);
    plan.enter(PHASE.PULL, SEARCH_MODE.ALL);
    plan.observe({ ...NEW_CONTROL, searches: hasPairs ? 1 : 2 }, 1, 1);
    t.equal(plan.next(1, MOST, 100, false).between, 'WATCH');
  }
});

t.test('Step by step, no step is submitted for nothing.', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const plan = new SubmissionPlan(false);
  for (let n = 0; n < 50; n++) {
    const steps = 1 + Math.floor(20 * random());
    const searches = new Set(
      Array.from({ length: steps }, (_, k) => k).filter((k) => (k === 0 && n === 0) || random() < 0.2),
    );
    const { submitted, idleSearches } = play(plan, { steps, searches, isStepwise: true }, n > 0);
    t.equal(submitted, steps);
    t.ok(idleSearches <= 1, 'at most that of the opening');
  }
});

t.test('Another phase begins with one step.', async (t) => {
  const plan = new SubmissionPlan(false);
  play(plan, { steps: 40, searches: from(0) }, false);
  plan.enter(PHASE.PULL, SEARCH_MODE.PART);
  t.match(plan.next(0, MOST, 100, false), { steps: 1, precedes: 'SEARCH' });
});
