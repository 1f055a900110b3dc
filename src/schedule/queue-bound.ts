type Verdict = 'IN' | 'FULL' | 'SHARE_USED';

/**
 * Who may still come in when many wait? Counts only, no time and no memory.
 *
 * A tenant alone may fill the queue. As soon as another one waits, or was turned away a short while ago, nobody may hold more
 * than half of it: what a tenant holds already stays, and nothing of it comes in until it is below its share. Turned away a
 * short while ago means: no more jobs than the queue has places have left it since. Without that, whoever fills the queue
 * would win every free place from those who have to come back.
 */
export class QueueBound {
  private total = 0;
  private readonly waiting = new Map<string, number>();
  /** tenants that were turned away, with the departures for which that counts */
  private readonly knocking = new Map<string, number>();

  /** @param most places */
  constructor(private readonly most: number) {}

  get count(): number {
    return this.total;
  }

  /** Takes a place, or says why there is none. */
  enter(tenant: string): Verdict {
    const verdict = this.knock(tenant);
    if (verdict === 'IN') this.enterAnyway(tenant);
    return verdict;
  }

  /**
   * Whether there is a place, without taking it. Who is turned away here counts as turned away.
   *
   * @param ahead others that were let through, and have not come yet
   */
  knock(tenant: string, ahead = 0): Verdict {
    const own = this.waiting.get(tenant) ?? 0;
    const verdict =
      this.total + ahead >= this.most ? 'FULL' : this.othersWant(tenant) && own >= this.share ? 'SHARE_USED' : 'IN';
    if (verdict !== 'IN') this.knocking.set(tenant, this.most);
    return verdict;
  }

  /** For a job that need not wait for a place: it starts at once. */
  enterAnyway(tenant: string): void {
    this.knocking.delete(tenant);
    this.waiting.set(tenant, (this.waiting.get(tenant) ?? 0) + 1);
    this.total++;
  }

  /** One waiting job of the tenant has left the queue, whatever for. */
  leave(tenant: string): void {
    const left = (this.waiting.get(tenant) ?? 0) - 1;
    if (left > 0) this.waiting.set(tenant, left);
    else this.waiting.delete(tenant);
    this.total--;
    for (const [name, departures] of this.knocking) {
      if (departures > 1) this.knocking.set(name, departures - 1);
      else this.knocking.delete(name);
    }
  }

  private get share(): number {
    return Math.max(1, Math.floor(this.most / 2));
  }

  private othersWant(tenant: string): boolean {
    const isOther = (name: string) => name !== tenant;
    return [...this.waiting.keys()].some(isOther) || [...this.knocking.keys()].some(isOther);
  }
}
