import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from './caller.js';
import type { Cluster } from './cluster.js';
import { findMoves, type Move, type StoredStates } from './moves.js';

/** The effect of one event on the callers. */
export interface Outcome {
  readonly event: string;
  /** frames that were answered during the observation of the event, each with the expected bytes */
  readonly frames: number;
  readonly longestGapMs: number;
  /** attempts that were refused or broken; the contract lets clients send all of them again */
  readonly retried: number;
  /** number of those that were refused because the store did not answer in time */
  readonly refusedByStore: number;
  /** sessions that servers took from the store */
  readonly moves: readonly Move[];
  /** servers that the proxy considered down at any time, or bypassed because it could not connect in time */
  readonly downs: readonly string[];
  /** further remarks */
  readonly note: string;
  /** expectations that failed */
  readonly faults: readonly string[];
}

export interface Observation extends Omit<Outcome, 'event' | 'note' | 'faults'> {
  /** states in the store before and after */
  readonly before: StoredStates;
  readonly after: StoredStates;
}

export interface Event {
  readonly name: string;
  /** @returns further remarks */
  readonly act: () => Promise<string>;
  /** @returns expectations that failed */
  readonly judge: (seen: Observation) => readonly string[];
}

/** ms within which callers must get two answers after an event, however slow the machine is */
const PATIENCE_MS = 900_000;

/** The load on a cluster, and the observations during an event. */
export class Run {
  private isOver = false;
  private loops: Promise<void>[] = [];
  private readonly faults: string[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly callers: readonly Caller[],
    /** ms for which load runs before and after each event */
    private readonly pauseMs: number,
    /** ms from an answer to the next frame */
    private readonly frameMs: number,
  ) {}

  async watch({ name, act, judge }: Event): Promise<Outcome> {
    const { callers, pauseMs } = this;
    if (this.loops.length === 0) this.loops = callers.map((caller) => this.loop(caller));
    await sleep(pauseMs);
    const downsBefore = await this.calm();
    for (const caller of callers) {
      caller.restartGap();
      caller.failures.clear();
    }
    const answered = this.count();
    const before = this.stored();
    const note = await act();
    const late = await this.untilAnswered();
    await sleep(pauseMs);
    const after = this.stored();
    const downsAfter = await this.downs();
    const reasons = new Map<string, number>();
    for (const { failures } of callers)
      for (const [code, n] of failures) reasons.set(code, (reasons.get(code) ?? 0) + n);
    const worst = [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const seen = {
      frames: Number(this.count() - answered),
      longestGapMs: Math.max(...callers.map(({ longestGapMs }) => longestGapMs)),
      retried: sumOf([...reasons.values()]),
      refusedByStore: sumOf([...reasons].flatMap(([code, n]) => (code.includes('no answer within') ? [n] : []))),
      moves: findMoves(before, after),
      downs: [...downsAfter].filter(([place, n]) => n !== downsBefore.get(place)).map(([place]) => place),
    };
    const faults = [
      ...this.faults.splice(0),
      ...(late > 0 ? [`${late} callers wait for ever`] : []),
      ...judge({ ...seen, before, after }),
    ];
    const notes = [note, ...worst.map(([code, n]) => `${n} × ${code}`)].filter((text) => text !== '');
    return { event: name, ...seen, note: notes.join('; '), faults };
  }

  /**
   * Waits until every caller has received an answer to a request sent after this call.
   *
   * @returns callers that have not
   */
  async untilAnswered(): Promise<number> {
    const { callers } = this;
    const reached = callers.map(({ frames }) => frames);
    const isLate = ({ frames }: Caller, c: number) => frames < reached[c]! + 2n;
    const end = performance.now() + PATIENCE_MS;
    while (callers.some(isLate) && this.faults.length === 0 && performance.now() < end) await sleep(25);
    return callers.filter(isLate).length;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  private async loop(caller: Caller): Promise<void> {
    try {
      while (!this.isOver) {
        await caller.step();
        if (this.frameMs > 0) await sleep(this.frameMs);
      }
    } catch (thrown) {
      if (!this.isOver) this.faults.push((thrown as Error).message);
    }
  }

  /** Returns the sessions of the callers. */
  private stored(): StoredStates {
    const all = this.cluster.storedSessions();
    return new Map(this.callers.flatMap(({ id }) => (all.has(id) ? [[id, all.get(id)!]] : [])));
  }

  private count(): bigint {
    return this.callers.reduce((sum, { frames }) => sum + frames, 0n);
  }

  /**
   * Waits until every running server is in use and sessions have returned to their servers.
   *
   * @returns the counts at that time
   */
  private async calm(): Promise<ReadonlyMap<string, number>> {
    for (;;) {
      for (const { name } of this.cluster.running) await this.cluster.proxy.waitFor(name, 'isUp');
      const counts = await this.downs();
      await this.untilAnswered();
      const isSame = [...(await this.downs())].every(([name, n]) => n === counts.get(name));
      if (isSame || this.faults.length > 0) return counts;
    }
  }

  /** How often the proxy considered each server down, or bypassed it. */
  private async downs(): Promise<ReadonlyMap<string, number>> {
    const states = await this.cluster.proxy.state();
    return new Map([...states].map(([name, { downs, redispatched }]) => [name, downs + redispatched]));
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);
