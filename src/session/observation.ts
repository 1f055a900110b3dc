import type { CallContext } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { OperationEvent, OperationObserver, RequestEvent } from '../contract/events.js';
import type { MeasuredOperation } from '../contract/operation-table.js';
import type { StepAnswer } from '../contract/sessions.js';
import { DEFAULT_TENANT } from './call.js';

export type Log = (event: object, message: string) => void;

/** Sends events to the observer of operations. An error of the observer never reaches the request that it observes. */
export class Observation {
  constructor(
    private readonly observer: OperationObserver | undefined,
    private readonly log: Log | undefined,
  ) {}

  emit(event: OperationEvent): void {
    try {
      this.observer?.(event);
    } catch (reason) {
      this.log?.(
        { level: 'error', event: 'observer-failed', err: reason },
        'The observer of operations threw an error.',
      );
    }
  }

  /** Runs one call and reports its end. */
  async request<T>(operation: MeasuredOperation, context: CallContext, work: () => Promise<T> | T): Promise<T> {
    const startedAt = context.receivedAt ?? performance.now();
    const emitEnd = (end: Pick<RequestEvent, 'code' | 'report' | 'isReplay'>) =>
      this.emit({
        type: 'request',
        operation,
        tenant: context.caller?.tenant ?? DEFAULT_TENANT,
        seconds: Math.max(0, performance.now() - startedAt) / 1000,
        ...end,
      });
    try {
      const answer = await work();
      emitEnd({ code: 'OK', ...detailsOf(answer) });
      return answer;
    } catch (thrown) {
      emitEnd({ code: IntersticeError.from(thrown).code });
      throw thrown;
    }
  }
}

/** Only the answers of resolves and steps have a report; the report of a replay was counted with the first answer. */
function detailsOf(answer: unknown): Pick<RequestEvent, 'report' | 'isReplay'> {
  const { report, isReplay } = (answer ?? {}) as Partial<StepAnswer>;
  const isSolved = report !== undefined && 'timings' in report;
  return { ...(isSolved && !isReplay ? { report } : {}), ...(isReplay === undefined ? {} : { isReplay }) };
}
