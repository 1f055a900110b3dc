import { counted } from '../contract/quote.js';

type Verdict = 'ADMITTED' | 'FULL' | 'FULL_OF_BYTES' | 'SHARE_USED';

/** A number of requests, and the bytes of their arrays. */
export interface QueueLoad {
  readonly count: number;
  readonly bytes: number;
}

interface MutableLoad {
  count: number;
  bytes: number;
}

const NO_LOAD: QueueLoad = { count: 0, bytes: 0 };

/**
 * Limits a queue by places and by bytes, those of the arrays that a request keeps in memory while it waits; time has no
 * influence.
 *
 * A tenant may fill the queue as long as no other tenant waits or was refused recently. Otherwise no tenant may hold
 * more than half of it: requests that already wait stay, and new ones are refused until the tenant is below its share.
 * A refusal is recent until as many jobs as the queue has places have left the queue. Without this rule the tenant that
 * fills the queue would take every free place before tenants that must retry.
 *
 * If no bytes are waiting, a request is admitted whatever its size, and so is the only request of a tenant: otherwise a
 * bound smaller than one message would always refuse that message. So the waiting bytes never exceed the bound or one
 * message.
 */
export class QueueBound {
  private readonly total: MutableLoad = { count: 0, bytes: 0 };
  private readonly waiting = new Map<string, MutableLoad>();
  /** tenants that were refused recently, with the number of departures until the refusal no longer counts */
  private readonly refused = new Map<string, number>();

  /** @param maxCount places @param maxBytes 0 = no limit */
  constructor(
    private readonly maxCount: number,
    readonly maxBytes = 0,
  ) {}

  get count(): number {
    return this.total.count;
  }

  get bytes(): number {
    return this.total.bytes;
  }

  /** Takes a place, or returns why there is none. */
  enter(tenant: string, bytes = 0): Verdict {
    const verdict = this.preflight(tenant, bytes);
    if (verdict === 'ADMITTED') this.enterUnchecked(tenant, bytes);
    return verdict;
  }

  /** Like {@link enter}, without taking the place; a refusal counts like any other. @param ahead earlier requests */
  preflight(tenant: string, bytes = 0, ahead = NO_LOAD): Verdict {
    const verdict = this.judge(tenant, bytes, ahead);
    if (verdict !== 'ADMITTED') this.refused.set(tenant, this.maxCount);
    return verdict;
  }

  /** Takes a place without a check, for a job that starts immediately. */
  enterUnchecked(tenant: string, bytes = 0): void {
    this.refused.delete(tenant);
    const own = this.waiting.get(tenant) ?? { count: 0, bytes: 0 };
    this.waiting.set(tenant, own);
    for (const held of [own, this.total]) {
      held.count++;
      held.bytes += bytes;
    }
  }

  /** A waiting job of the tenant has left the queue, started or not. @param bytes those it entered with */
  leave(tenant: string, bytes = 0): void {
    const own = this.waiting.get(tenant);
    for (const held of own ? [own, this.total] : [this.total]) {
      held.count--;
      held.bytes -= bytes;
    }
    if (!own || own.count <= 0) this.waiting.delete(tenant);
    for (const [name, departures] of this.refused) {
      if (departures > 1) this.refused.set(name, departures - 1);
      else this.refused.delete(name);
    }
  }

  private judge(tenant: string, bytes: number, ahead: QueueLoad): Verdict {
    if (this.total.count + ahead.count >= this.maxCount) return 'FULL';
    if (exceedsByteLimit(this.total.bytes + ahead.bytes, bytes, this.maxBytes)) return 'FULL_OF_BYTES';
    const own = this.waiting.get(tenant);
    if (!own || !this.isContended(tenant)) return 'ADMITTED';
    const isShareUsed = own.count >= this.share || exceedsByteLimit(own.bytes, bytes, this.maxBytes / 2);
    return isShareUsed ? 'SHARE_USED' : 'ADMITTED';
  }

  private get share(): number {
    return Math.max(1, Math.floor(this.maxCount / 2));
  }

  private isContended(tenant: string): boolean {
    const isOther = (name: string) => name !== tenant;
    return [...this.waiting.keys()].some(isOther) || [...this.refused.keys()].some(isOther);
  }
}

/**
 * The message of a refusal.
 *
 * @param waiting the load at that moment
 * @param bytes of the refused request
 * @param maxBytes the limit on the bytes of waiting requests
 */
export function explainRefusal(
  verdict: Exclude<Verdict, 'ADMITTED'>,
  waiting: QueueLoad,
  bytes: number,
  maxBytes: number,
): string {
  switch (verdict) {
    case 'FULL':
      if (waiting.count === 0) return 'No request may wait here (INTERSTICE_MAX_QUEUE is 0), and others are at work.';
      return `${counted(waiting.count, 'request')} ${waiting.count === 1 ? 'is' : 'are'} waiting already.`;
    case 'FULL_OF_BYTES':
      return `${waiting.count} requests of ${waiting.bytes} bytes are waiting already; with ${bytes} more, the limit of ${maxBytes} bytes would be exceeded.`;
    case 'SHARE_USED':
      return 'Your tenant already uses its share of the queue (half of it while other tenants are active).';
  }
}

/** Whether bytes are refused on top of those that wait. @param limit 0 = no limit */
export function exceedsByteLimit(waiting: number, bytes: number, limit: number): boolean {
  return limit > 0 && waiting > 0 && waiting + bytes > limit;
}
