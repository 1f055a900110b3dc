/** Divides the time of a lane among its jobs: while n of them run, each is charged an n-th of it. */
export class SharedTime<T> {
  /** ms, the charge of a job that had run since the beginning */
  private charge = 0;
  private last = 0;
  /** the charge at the moment when each of the running jobs began */
  private readonly begun = new Map<T, number>();

  /** @param now ms, never less than before */
  begin(job: T, now: number): void {
    this.advance(now);
    this.begun.set(job, this.charge);
  }

  /** @param now ms, never less than before @returns ms that the job is charged; 0 if it does not run */
  end(job: T, now: number): number {
    this.advance(now);
    const charge = this.charge - (this.begun.get(job) ?? this.charge);
    this.begun.delete(job);
    return charge;
  }

  private advance(now: number): void {
    if (this.begun.size > 0) this.charge += (now - this.last) / this.begun.size;
    this.last = now;
  }
}
