/** Lets a value through at most once per interval; the first always. @param now ms */
export function throttle<T>(deliver: (value: T) => void, intervalMs: number, now: () => number): (value: T) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (value) => {
    const time = now();
    if (time < next) return;
    next = time + intervalMs;
    deliver(value);
  };
}
