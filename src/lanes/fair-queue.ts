import type { Priority } from '../contract/requests.js';

/** The owner and priority of a job, by which the fair queue shares the lanes. */
export interface Claim {
  readonly tenant: string;
  /** the scene key of the job's session, if any, whose jobs run one at a time, in the order of their arrival */
  readonly session?: number | undefined;
  readonly priority: Priority;
}

/**
 * Decides which job runs next. Jobs wait in flows: each session has one flow, whose jobs run one at a time in the order
 * of their arrival; the stateless jobs of a tenant have one flow for each priority (in a single flow an urgent job
 * would wait behind the tenant's own batch jobs).
 *
 *   lanes ─┬─ tenant A ─┬─ session 7       job job job
 *          │            ├─ INTERACTIVE     job
 *          │            └─ BATCH           job job job job
 *          └─ tenant B ─── NORMAL          job job
 *
 * Lanes are shared fairly among tenants first, then among the flows of a tenant, by the time that their jobs took, with
 * self-clocked fair queueing (Golestani, INFOCOM 1994) on both levels. The tag of a job is
 *
 *   max(tag of the flow's last job, clock when the job arrived) + cost / weight of its priority,
 *
 * the job with the smallest tag starts first, and the clock is the tag of the job that started last. The cost is an
 * estimate, the mean of the flow's last jobs; when the job has ended, the flow is charged the difference.
 *
 * No job starves: the tag of a job is fixed once it is first in its flow and no job of that flow runs, every job that
 * starts before it advances the clock, and jobs that arrive later get a tag beyond the clock. For the same reason
 * priorities are weights and not ranks: any number of interactive jobs slow a batch job down, to a seventeenth of a
 * lane against one busy interactive flow, but none can stop it.
 */
export class FairQueue<T> {
  private readonly tenants = new Map<string, Tenant<T>>();
  private readonly entries = new Map<T, Entry<T>>();
  private clock = 0;
  private arrivals = 0;
  private waiting = 0;
  private pruneAt = MIN_PRUNED_FLOWS;
  private meanCost = FIRST_GUESS_MS;

  /** Number of waiting jobs. */
  get size(): number {
    return this.waiting;
  }

  add(item: T, claim: Claim): void {
    const tenant = this.tenantOf(claim.tenant);
    const flow = flowOf(tenant, claim);
    const entry: Entry<T> = {
      item,
      tenant,
      flow,
      weight: WEIGHTS[claim.priority],
      sequence: this.arrivals++,
      clock: tenant.clock,
      rootClock: this.clock,
      charged: 0,
    };
    flow.waiting.push(entry);
    this.entries.set(item, entry);
    this.waiting++;
  }

  /**
   * Takes the next of the jobs that fit; it counts as running until {@link finish}.
   *
   * @param canStart false = the next one cannot start yet, and no later one starts before it
   */
  take(isFit: (item: T) => boolean, canStart: (item: T) => boolean = () => true): T | undefined {
    let best: Candidate<T> | undefined;
    for (const tenant of this.tenants.values()) {
      const candidate = this.bestOf(tenant, isFit);
      if (candidate && (!best || isBefore(candidate, best, 'tenantTag'))) best = candidate;
    }
    if (!best || !canStart(best.entry.item)) return undefined;
    const { entry, tag, tenantTag } = best;
    const { tenant, flow } = entry;
    flow.waiting.shift();
    flow.running++;
    this.waiting--;
    entry.charged = tag - Math.max(flow.tag, entry.clock);
    flow.tag = tag;
    tenant.tag = tenantTag;
    tenant.clock = Math.max(tenant.clock, tag);
    this.clock = Math.max(this.clock, tenantTag);
    return entry.item;
  }

  /** Notes that a job that was taken has ended. @param costMs its share of the time of its lane */
  finish(item: T, costMs: number): void {
    const entry = this.entries.get(item);
    if (!entry) return;
    this.entries.delete(item);
    const { flow, tenant } = entry;
    flow.running--;
    const owed = costMs / entry.weight - entry.charged;
    flow.tag += owed;
    tenant.tag += owed;
    flow.meanCost = flow.meanCost === undefined ? costMs : flow.meanCost + (costMs - flow.meanCost) * MEAN_WEIGHT;
    this.meanCost += (costMs - this.meanCost) * MEAN_WEIGHT;
    this.prune();
  }

  /** Removes a waiting job. @returns false if it does not wait here */
  remove(item: T): boolean {
    const entry = this.entries.get(item);
    const place = entry?.flow.waiting.indexOf(entry) ?? -1;
    if (!entry || place < 0) return false;
    entry.flow.waiting.splice(place, 1);
    this.entries.delete(item);
    this.waiting--;
    this.prune();
    return true;
  }

  /** Whether a job of this claim would have to wait for an earlier one of its session. */
  mustWait(claim: Claim): boolean {
    const flow = this.tenants.get(claim.tenant)?.flows.get(flowKeyOf(claim));
    if (!flow?.isSerial) return false;
    return flow.running > 0 || flow.waiting.length > 0;
  }

  /** Waiting jobs, in the order of their arrival. */
  *waitingItems(): Generator<T> {
    const all = [...this.tenants.values()].flatMap((tenant) =>
      [...tenant.flows.values()].flatMap((flow) => flow.waiting),
    );
    for (const { item } of all.sort((a, b) => a.sequence - b.sequence)) yield item;
  }

  /** Number of waiting jobs that arrived before this one; later ones may pass it. 0 for a job that does not wait. */
  countBefore(item: T): number {
    const sequence = this.entries.get(item)?.sequence ?? 0;
    let count = 0;
    for (const { flows } of this.tenants.values())
      for (const { waiting } of flows.values()) for (const other of waiting) if (other.sequence < sequence) count++;
    return count;
  }

  /** Number of flows in memory: limited to those with jobs or with an outstanding charge. */
  get flowCount(): number {
    let count = 0;
    for (const { flows } of this.tenants.values()) count += flows.size;
    return count;
  }

  private bestOf(tenant: Tenant<T>, isFit: (item: T) => boolean): Candidate<T> | undefined {
    let best: Candidate<T> | undefined;
    for (const flow of tenant.flows.values()) {
      const [entry] = flow.waiting;
      if (!entry || (flow.isSerial && flow.running > 0) || !isFit(entry.item)) continue;
      const share = (flow.meanCost ?? this.meanCost) / entry.weight;
      const tag = Math.max(flow.tag, entry.clock) + share;
      const tenantTag = Math.max(tenant.tag, entry.rootClock) + share;
      const candidate = { entry, tag, tenantTag };
      if (!best || isBefore(candidate, best, 'tag')) best = candidate;
    }
    return best;
  }

  private tenantOf(name: string): Tenant<T> {
    let tenant = this.tenants.get(name);
    if (!tenant) {
      tenant = { flows: new Map(), tag: 0, clock: 0 };
      this.tenants.set(name, tenant);
    }
    return tenant;
  }

  /**
   * Removes flows and tenants that have no jobs and no outstanding charge: if the clock is at or past their tag, a new entry
   * behaves like the old one. Runs only when their number has doubled since the last time.
   */
  private prune(): void {
    if (this.flowCount < this.pruneAt) return;
    for (const [name, tenant] of this.tenants) {
      for (const [key, flow] of tenant.flows) {
        if (flow.running === 0 && flow.waiting.length === 0 && flow.tag <= tenant.clock) tenant.flows.delete(key);
      }
      if (tenant.flows.size === 0 && tenant.tag <= this.clock) this.tenants.delete(name);
    }
    this.pruneAt = Math.max(MIN_PRUNED_FLOWS, 2 * this.flowCount);
  }
}

/** One priority is worth a factor of four: clearly noticeable, and the lowest priority still gets a useful share. */
const WEIGHTS: Readonly<Record<Priority, number>> = { BATCH: 1, NORMAL: 4, INTERACTIVE: 16 };

/** ms; the assumed cost of a job before any has been measured */
const FIRST_GUESS_MS = 100;
/** Weight of the newest job in a running mean: about the last five count. */
const MEAN_WEIGHT = 0.2;
/** Below this number of flows pruning is not worth its cost. */
const MIN_PRUNED_FLOWS = 64;

interface Tenant<T> {
  readonly flows: Map<string, Flow<T>>;
  tag: number;
  /** for the tags of its flows */
  clock: number;
}

interface Flow<T> {
  /** whether its jobs run one at a time, as those of a session do */
  readonly isSerial: boolean;
  readonly waiting: Entry<T>[];
  running: number;
  tag: number;
  meanCost: number | undefined;
}

interface Entry<T> {
  readonly item: T;
  readonly tenant: Tenant<T>;
  readonly flow: Flow<T>;
  readonly weight: number;
  readonly sequence: number;
  /** the tenant's clock and the common clock when the job arrived */
  readonly clock: number;
  readonly rootClock: number;
  /** cost / weight as estimated */
  charged: number;
}

interface Candidate<T> {
  readonly entry: Entry<T>;
  readonly tag: number;
  readonly tenantTag: number;
}

function isBefore<T>(a: Candidate<T>, b: Candidate<T>, by: 'tag' | 'tenantTag'): boolean {
  return a[by] < b[by] || (a[by] === b[by] && a.entry.sequence < b.entry.sequence);
}

function flowKeyOf({ session, priority }: Claim): string {
  return session === undefined ? priority : `session ${session}`;
}

function flowOf<T>(tenant: Tenant<T>, claim: Claim): Flow<T> {
  const key = flowKeyOf(claim);
  let flow = tenant.flows.get(key);
  if (!flow) {
    flow = { isSerial: claim.session !== undefined, waiting: [], running: 0, tag: 0, meanCost: undefined };
    tenant.flows.set(key, flow);
  }
  return flow;
}
