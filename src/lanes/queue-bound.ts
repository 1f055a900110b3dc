type Verdict = 'IN' | 'FULL' | 'FULL_OF_BYTES' | 'SHARE_USED';

/** Requests that wait, or were let through and have not come yet. */
export interface Ahead {
  readonly count: number;
  readonly bytes: number;
}

interface Held {
  count: number;
  bytes: number;
}

const NOBODY: Ahead = { count: 0, bytes: 0 };

/**
 * Who may still come in when many wait? Places and bytes only, no time: the bytes are those of the arrays that a request
 * keeps in memory while it waits.
 *
 * A tenant alone may fill the queue. As soon as another one waits, or was turned away a short while ago, nobody may hold more
 * than half of it: what a tenant holds already stays, and nothing of it comes in until it is below its share. Turned away a
 * short while ago means: no more jobs than the queue has places have left it since. Without that, whoever fills the queue
 * would win every free place from those who have to come back.
 *
 * Where no bytes wait, a request comes in whatever its size, and so does a tenant's only one: a bound smaller than one
 * message would otherwise refuse it for ever. So what waits is at most the bound, or one message.
 */
export class QueueBound {
  private readonly total: Held = { count: 0, bytes: 0 };
  private readonly waiting = new Map<string, Held>();
  /** tenants that were turned away, with the departures for which that counts */
  private readonly knocking = new Map<string, number>();

  /** @param most places @param mostBytes 0 = no limit */
  constructor(
    private readonly most: number,
    readonly mostBytes = 0,
  ) {}

  get count(): number {
    return this.total.count;
  }

  get bytes(): number {
    return this.total.bytes;
  }

  /** Takes a place, or says why there is none. */
  enter(tenant: string, bytes = 0): Verdict {
    const verdict = this.preflight(tenant, bytes);
    if (verdict === 'IN') this.enterAnyway(tenant, bytes);
    return verdict;
  }

  /** Whether there is a place, without taking it. Who is turned away here counts as turned away. */
  preflight(tenant: string, bytes = 0, ahead = NOBODY): Verdict {
    const verdict = this.judge(tenant, bytes, ahead);
    if (verdict !== 'IN') this.knocking.set(tenant, this.most);
    return verdict;
  }

  /** For a job that need not wait for a place: it starts at once. */
  enterAnyway(tenant: string, bytes = 0): void {
    this.knocking.delete(tenant);
    const own = this.waiting.get(tenant) ?? { count: 0, bytes: 0 };
    this.waiting.set(tenant, own);
    for (const held of [own, this.total]) {
      held.count++;
      held.bytes += bytes;
    }
  }

  /** One waiting job of the tenant has left the queue, whatever for. @param bytes as it entered with */
  leave(tenant: string, bytes = 0): void {
    const own = this.waiting.get(tenant);
    for (const held of own ? [own, this.total] : [this.total]) {
      held.count--;
      held.bytes -= bytes;
    }
    if (!own || own.count <= 0) this.waiting.delete(tenant);
    for (const [name, departures] of this.knocking) {
      if (departures > 1) this.knocking.set(name, departures - 1);
      else this.knocking.delete(name);
    }
  }

  private judge(tenant: string, bytes: number, ahead: Ahead): Verdict {
    if (this.total.count + ahead.count >= this.most) return 'FULL';
    if (isTooMuch(this.total.bytes + ahead.bytes, bytes, this.mostBytes)) return 'FULL_OF_BYTES';
    const own = this.waiting.get(tenant);
    if (!own || !this.othersWant(tenant)) return 'IN';
    const isBeyondShare = own.count >= this.share || isTooMuch(own.bytes, bytes, this.mostBytes / 2);
    return isBeyondShare ? 'SHARE_USED' : 'IN';
  }

  private get share(): number {
    return Math.max(1, Math.floor(this.most / 2));
  }

  private othersWant(tenant: string): boolean {
    const isOther = (name: string) => name !== tenant;
    return [...this.waiting.keys()].some(isOther) || [...this.knocking.keys()].some(isOther);
  }
}

/** What the refusal of {@link isTooMuch} says. */
export function explainBytes({ count, bytes }: Ahead, more: number, most: number): string {
  return `${count} requests of ${bytes} bytes are waiting already; with ${more} more the limit, ${most} bytes, would be passed`;
}

/** Whether bytes are refused on top of those that wait. @param most 0 = no limit */
export function isTooMuch(waiting: number, bytes: number, most: number): boolean {
  return most > 0 && waiting > 0 && waiting + bytes > most;
}
