import { performance } from 'node:perf_hooks';
import { IntersticeError } from '../../contract/errors.js';
import { UPLOAD_TIMEOUT_MS } from '../common.js';
import type { BodyAccount } from './body-ledger.js';

/** Time limits for the arrival of a body. */
export interface ArrivalTimes {
  /** ms without a byte after which a body is abandoned, so that others can use its reserved memory */
  readonly stallMs: number;
  /** ms from the first byte to the last */
  readonly uploadMs: number;
}

/** Long enough for several retransmissions of TCP: they come 0.2, 0.4, … 6.4 s apart, 12.6 s in all. */
const STALL_TIMEOUT_MS = 20_000;

/** ms after which a client that reads nothing of its answer is disconnected: long enough for pauses to store it. */
export const ANSWER_STALL_MS = 60_000;

export const ARRIVAL_TIMES: ArrivalTimes = { stallMs: STALL_TIMEOUT_MS, uploadMs: UPLOAD_TIMEOUT_MS };

/** One body on its way in: charges its account before the bytes are kept, and notices when they stop arriving. */
export class Arrival {
  private receivedBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;

  constructor(
    readonly account: BodyAccount,
    private readonly times: ArrivalTimes = ARRIVAL_TIMES,
  ) {}

  /** Starts the time limits. @param onLate called once, with the reason, unless {@link end} is called first */
  start(onLate: (reason: IntersticeError) => void): void {
    const { stallMs } = this.times;
    this.startedAt = performance.now();
    this.timer = setTimeout(() => onLate(lateBody(`no byte has arrived for ${stallMs / 1000} s`)), stallMs);
  }

  /** Charges bytes that are not kept yet. @throws QUEUE_FULL (no room for them), MALFORMED_BODY (too slow) */
  receive(bytes: number): void {
    this.timer?.refresh();
    this.receivedBytes += bytes;
    this.account.growTo(this.receivedBytes);
    const { uploadMs } = this.times;
    if (performance.now() - this.startedAt > uploadMs)
      throw lateBody(`its upload has taken longer than ${uploadMs / 1000} s`);
  }

  /** The body is complete, or abandoned. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

const lateBody = (reason: string): IntersticeError =>
  new IntersticeError('MALFORMED_BODY', `The body is incomplete: ${reason}.`, {
    hint: 'Send the whole body without a pause; prepare it before the request begins.',
  });
