import { randomUUID } from 'node:crypto';
import { type DoorName, openSeat, type Seat, type SeatAddress } from './doors.js';
import { drive } from './drive.js';
import { createMessage, type SessionTerms, type Subject } from './messages.js';
import { type Sample, type Summary, summarise } from './sample.js';

/** Sessions that are opened at a time: opening is not measured, and must not overflow the queue. */
const OPEN_AT_ONCE = 8;
/** Seconds without use after which the server ends a session that this program could not delete. */
const IDLE_TIMEOUT = 120;
/** Time to delete the sessions after an abort, ms. */
const CLOSE_MS = 5000;

export interface LoadRun extends SessionTerms {
  readonly address: SeatAddress;
  readonly door: DoorName;
  readonly subject: Subject;
  readonly sessions: number;
  /** steps per second that each session requests; absent = the next step follows the answer */
  readonly rate?: number | undefined;
  /** of the measurement */
  readonly seconds: number;
  /** before the measurement, with the same load */
  readonly warmUp: number;
  /** seconds after which a step is refused */
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadFigures extends Summary {
  /** requests that were due in the measured time */
  readonly asked: number;
  /** share of them that were answered before the next one of their session was due; absent without a rate */
  readonly inTime?: number;
  /** accepted steps by status, e.g. CONVERGED */
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Opens sessions, makes steps in all of them for a time, and deletes the sessions. An aborted signal ends the calls
 * under way; the sessions are then deleted, too, but for 5 seconds at most, and what is left ends by its idle timeout.
 *
 * @throws IntersticeError if a session is refused; the error of the connection if no server answers; any error after
 *   an abort
 */
export async function runLoad(run: LoadRun): Promise<LoadFigures> {
  const { sessions, rate, seconds, warmUp, subject, deadline, signal } = run;
  signal?.throwIfAborted();
  const seats = Array.from({ length: sessions }, () => openSeat(run.door, run.address, randomUUID()));
  const abandon = (): void => {
    for (const seat of seats) seat.abandon();
  };
  let closing: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    abandon();
    closing = setTimeout(abandon, CLOSE_MS);
  };
  signal?.addEventListener('abort', onAbort);
  try {
    await openAll(seats, createMessage(subject, { ...run, idleTimeout: IDLE_TIMEOUT + (rate ? 2 / rate : 0) }), signal);
    const samples = await drive(
      async (session, turn) => {
        const outcome = await seats[session]!.step(subject.targets[turn % 2]!, { deadline });
        return { session, ...outcome };
      },
      { loops: sessions, period: rate === undefined ? undefined : 1000 / rate, seconds: warmUp + seconds, signal },
    );
    signal?.throwIfAborted();
    return figuresOf(samples, { warmUp, seconds, rate });
  } finally {
    await Promise.all(seats.map((seat) => seat.close()));
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(closing);
  }
}

async function openAll(seats: readonly Seat[], creation: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  let next = 0;
  const open = async (): Promise<void> => {
    for (let seat = seats[next++]; seat !== undefined && signal?.aborted !== true; seat = seats[next++])
      await seat.open(creation);
  };
  // All must have ended before the first failure is thrown, because open sessions have to be closed.
  const ends = await Promise.allSettled(Array.from({ length: OPEN_AT_ONCE }, open));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** @param warmUp seconds; requests that were due in them do not count */
export function figuresOf(
  samples: readonly Sample[],
  { warmUp, seconds, rate }: Pick<LoadRun, 'warmUp' | 'seconds' | 'rate'>,
): LoadFigures {
  const counted = samples.filter(({ at = 0 }) => at >= warmUp * 1000);
  // The last answers arrive after the end of the time; without them long steps would count as fast ones.
  const end = counted.reduce((latest, { at = 0, ms }) => Math.max(latest, at + ms), (warmUp + seconds) * 1000);
  const statuses: Record<string, number> = {};
  for (const { status } of counted) if (status !== undefined) statuses[status] = (statuses[status] ?? 0) + 1;
  const isInTime = ({ code, ms }: Sample): boolean => code === 'OK' && ms * rate! <= 1000;
  return {
    asked: counted.length,
    ...summarise(counted, end / 1000 - warmUp),
    ...(rate === undefined || counted.length === 0 ? {} : { inTime: counted.filter(isInTime).length / counted.length }),
    statuses,
  };
}
