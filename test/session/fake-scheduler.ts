import type { DiagnoseRequest, Diagnosis } from '../../src/contract/diagnosis.js';
import { cancelled, draining } from '../../src/contract/errors.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { Parameters } from '../../src/contract/parameters.js';
import type { Report } from '../../src/contract/report.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer } from '../../src/contract/requests.js';
import type { UntangleStatus } from '../../src/contract/untangle.js';
import type { UntangledState } from '../../src/contract/untangle-answer.js';
import { hashContent } from '../../src/jobs/content-hash.js';
import type { OpenAnswer, OpenTask, ResolveTask, StepOutcome, StepTask, UntangleTask } from '../../src/jobs/tasks.js';
import type { Claim } from '../../src/lanes/fair-queue.js';
import type { JobPreflight, ScheduleHooks, Scheduler } from '../../src/lanes/scheduler.js';
import type { SessionClock } from '../../src/session/call.js';
import { sumOfCounts } from '../../src/solver/convoy-counts.js';
import { defaultsOf } from '../../src/solver/parameters.js';
import { fakeCheckAnswer, fakeDiagnosis, fakeReport, fakeUntangled } from '../transport/fake-answers.js';

/** A clock that the test moves; timers fire while it moves. */
export class FakeClock implements SessionClock {
  private now = 1000;
  private readonly timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  wallMs(): number {
    return Date.UTC(2026, 0, 1) + this.now;
  }

  monotonicMs(): number {
    return this.now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.now + ms, callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = [...this.timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.timers.delete(next);
      this.now = Math.max(this.now, next.at);
      next.callback();
    }
    this.now = end;
  }

  /** What a blocked thread sees: time has passed, and no timer has fired yet. */
  jump(ms: number): void {
    this.now += ms;
  }

  get timerCount(): number {
    return this.timers.size;
  }
}

/** A step that the test ends. */
export interface StepJob {
  readonly task: StepTask;
  readonly hooks: ScheduleHooks;
  finish(): void;
  fail(reason: unknown): void;
}

/**
 * A scheduler that computes nothing: the answer of a step is half way between its start and its target, so that the
 * order of steps shows. With `isManual` the test ends steps and openings, with `holdsChecks` checks; a cancel ends them
 * as with the real scheduler.
 */
export class FakeScheduler implements Omit<Scheduler, 'hello' | 'sceneCount'> {
  isManual = false;
  holdsChecks = false;
  readonly steps: StepJob[] = [];
  readonly opens: { readonly task: OpenTask; readonly hooks: ScheduleHooks; finish(): void; fail(r: unknown): void }[] =
    [];
  readonly checks: { readonly request: MeshCheckRequest; readonly hooks: ScheduleHooks; fail(r: unknown): void }[] = [];
  readonly diagnoses: { readonly request: DiagnoseRequest; readonly hooks: ScheduleHooks; fail(r: unknown): void }[] =
    [];
  readonly preflights: JobPreflight[] = [];
  readonly parked: number[] = [];
  /** what is kept of each parked session */
  savedBytes = 0;
  /** scenes of parked sessions that were given up */
  readonly dropped: number[] = [];
  readonly forgotten: number[] = [];
  /** owners of scenes of other processes */
  readonly adopted: Pick<Claim, 'tenant' | 'priority'>[] = [];
  waitingCount = 0;
  waitingBytes = 0;
  runningCount = 0;
  sharedBytes = 0;
  workBytes = 0;
  deviceBytes = 0;
  scenesTogether = 1;
  convoy = sumOfCounts([]);
  residentBytes: (key: number) => number = () => 100;
  warnings: OpenAnswer['warnings'] = [];

  wrapUp(): void {}

  preflight(preflight: JobPreflight): void {
    this.preflights.push(preflight);
  }

  async resolve({ request }: ResolveTask, _hooks: ScheduleHooks): Promise<ResolveAnswer> {
    return { positions: request.target.slice(), report: freshReport() };
  }

  check(request: MeshCheckRequest, hooks: ScheduleHooks): Promise<CheckAnswer> {
    return this.defer(
      hooks,
      fakeCheckAnswer(),
      (end) => this.checks.push({ request, hooks, ...end }),
      this.holdsChecks,
    );
  }

  diagnose(request: DiagnoseRequest, hooks: ScheduleHooks): Promise<Diagnosis> {
    return this.defer(
      hooks,
      fakeDiagnosis(),
      (end) => this.diagnoses.push({ request, hooks, ...end }),
      this.holdsChecks,
    );
  }

  readonly untanglings: { readonly task: UntangleTask; readonly hooks: ScheduleHooks }[] = [];
  /** takes the place of the status */
  untangleStatus: UntangleStatus = 'FREE';

  /** Answers with a state that is 0.25 above the start. */
  async untangle(task: UntangleTask, hooks: ScheduleHooks): Promise<UntangledState> {
    this.untanglings.push({ task, hooks });
    const { report, ...rest } = fakeUntangled(task.request.positions.map((value) => value + 0.25));
    return { ...rest, report: { ...report, status: this.untangleStatus } };
  }

  open(task: OpenTask, hooks: ScheduleHooks): Promise<OpenAnswer> {
    const { mesh, start, key } = task.state;
    const answer: OpenAnswer = {
      summary: {
        vertices: mesh.vertexCount,
        edges: 0,
        triangles: (mesh.triangles?.length ?? 0) / 3,
        segments: 0,
        particles: 0,
        tetrahedra: 0,
        components: 1,
        medianEdge: 1,
        minHeight: 1,
        bounds: [0, 0, 0, 1, 1, 1],
        contentHash: hashContent(mesh, start),
      },
      measures: { medianEdge: 1, typicalEdge: 1, minHeight: 1, bounds: [0, 0, 0, 1, 1, 1], warnings: [] },
      resolved: { ...(defaultsOf('TUNED') as Parameters), ...task.parameters } as Parameters,
      warnings: this.warnings,
      residentBytes: this.residentBytes(key),
    };
    return this.defer(hooks, answer, (end) => this.opens.push({ task, hooks, ...end }));
  }

  step(task: StepTask, hooks: ScheduleHooks): Promise<StepOutcome> {
    const start = task.start ?? task.state.start;
    const outcome: StepOutcome = {
      positions: midpoint(start, task.target),
      report: freshReport(),
      residentBytes: this.residentBytes(task.state.key),
    };
    return this.defer(hooks, outcome, (end) => this.steps.push({ task, hooks, ...end }));
  }

  async park(key: number): Promise<number> {
    this.parked.push(key);
    return this.savedBytes;
  }

  async save(): Promise<undefined> {}

  adopt(_key: number, owner: Pick<Claim, 'tenant' | 'priority'>): void {
    this.adopted.push(owner);
  }

  dropSaved(key: number): void {
    this.dropped.push(key);
  }

  async forget(key: number): Promise<void> {
    this.forgotten.push(key);
  }

  async close(): Promise<void> {
    for (const job of [...this.steps, ...this.opens, ...this.checks, ...this.diagnoses]) {
      job.fail(draining());
    }
  }

  private defer<T>(
    hooks: ScheduleHooks,
    answer: T,
    note: (end: Pick<StepJob, 'finish' | 'fail'>) => void,
    isHeld = this.isManual,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = () => reject(cancelled());
      hooks.signal?.addEventListener('abort', cancel, { once: true });
      note({ finish: () => resolve(answer), fail: reject });
      if (!isHeld) resolve(answer);
    });
  }
}

export function freshReport(): Report {
  return structuredClone(fakeReport());
}

export function midpoint(a: Positions, b: Positions): Positions {
  return b.map((value, i) => (value + a[i]!) / 2) as Positions;
}

/** Runs all callbacks that are ready. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
