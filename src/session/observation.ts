import type { CallContext } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { OperationEvent, OperationObserver, RequestEvent } from '../contract/events.js';
import type { MeasuredOperation } from '../contract/operation-table.js';
import type { StepAnswer } from '../contract/sessions.js';
import { DEFAULT_TENANT } from './calls.js';

export type Log = (event: object, message: string) => void;

/** Tells the observer what happens. An observer that throws does no harm to the request it was told of. */
export class Observation {
  constructor(
    private readonly observer: OperationObserver | undefined,
    private readonly log: Log | undefined,
  ) {}

  emit(event: OperationEvent): void {
    try {
      this.observer?.(event);
    } catch (reason) {
      this.log?.({ level: 'error', event: 'observer-failed', err: reason }, 'an observer of operations threw');
    }
  }

  /** Runs one call and reports its end. */
  async request<T>(operation: MeasuredOperation, context: CallContext, work: () => Promise<T> | T): Promise<T> {
    const from = context.receivedAt ?? performance.now();
    const told = (rest: Pick<RequestEvent, 'code' | 'report' | 'isReplay'>) =>
      this.emit({
        type: 'request',
        operation,
        tenant: context.caller?.tenant ?? DEFAULT_TENANT,
        seconds: Math.max(0, performance.now() - from) / 1000,
        ...rest,
      });
    try {
      const answer = await work();
      told({ code: 'OK', ...detailsOf(answer) });
      return answer;
    } catch (thrown) {
      told({ code: IntersticeError.from(thrown).code });
      throw thrown;
    }
  }
}

/** Only answers of a resolve and of a step have a report; that of a replay was counted before. */
function detailsOf(answer: unknown): Pick<RequestEvent, 'report' | 'isReplay'> {
  const { report, isReplay } = (answer ?? {}) as Partial<StepAnswer>;
  return { ...(report && !isReplay ? { report } : {}), ...(isReplay === undefined ? {} : { isReplay }) };
}
