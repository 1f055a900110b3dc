/** The signals with which a person or a supervisor stops a program. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

type StopSignal = (typeof STOP_SIGNALS)[number];

/** The process, or a substitute in tests. */
type SignalSource = Pick<NodeJS.EventEmitter, 'on' | 'off'>;

/**
 * Time in which a further signal is an echo of the first, ms: at Ctrl-C the terminal signals every process of its group, and
 * npm passes its own signal on to the program that it has started.
 */
const ECHO_MS = 500;

/**
 * Calls `stop` at the first signal, and `end` at the second one that is not an echo.
 *
 * @param clock milliseconds
 * @returns a function that removes the handlers
 */
export function onStopSignals(
  stop: (signal: StopSignal) => void,
  end: (signal: StopSignal) => void,
  source: SignalSource = process,
  clock: () => number = () => performance.now(),
): () => void {
  let first: number | undefined;
  const handle = (signal: StopSignal): void => {
    const now = clock();
    if (first === undefined) {
      first = now;
      stop(signal);
    } else if (now - first >= ECHO_MS) end(signal);
  };
  for (const signal of STOP_SIGNALS) source.on(signal, handle);
  return () => {
    for (const signal of STOP_SIGNALS) source.off(signal, handle);
  };
}
