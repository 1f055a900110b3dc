/** What waits, by tenant: each in turn gives the first of its own, so that nobody waits behind all that another one sent. */
export class Turns<T extends { readonly tenant: string }> {
  private readonly waiting = new Map<string, T[]>();

  add(item: T): void {
    const own = this.waiting.get(item.tenant);
    if (own) own.push(item);
    else this.waiting.set(item.tenant, [item]);
  }

  /** Takes the next one out; undefined when nothing waits. */
  take(): T | undefined {
    const [first] = this.waiting;
    if (!first) return undefined;
    const [tenant, own] = first;
    const item = own.shift();
    // A tenant that has more goes to the end of the row.
    this.waiting.delete(tenant);
    if (own.length > 0) this.waiting.set(tenant, own);
    return item;
  }

  /** @returns whether it was there */
  remove(item: T): boolean {
    const own = this.waiting.get(item.tenant);
    const at = own?.indexOf(item) ?? -1;
    if (!own || at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.waiting.delete(item.tenant);
    return true;
  }
}
