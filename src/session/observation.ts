import { IntersticeError } from '../contract/errors.js';
import type { OperationEvent, OperationName, OperationObserver, RequestEvent } from '../contract/events.js';
import type { CallContext } from '../contract/operations.js';
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

  /** Runs one call and tells how it ended. @param detail what else there is to say of the answer */
  async request<T>(
    operation: OperationName,
    context: CallContext,
    work: () => Promise<T> | T,
    detail: (answer: T) => Pick<RequestEvent, 'report' | 'isReplay'> = () => ({}),
  ): Promise<T> {
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
      told({ code: 'OK', ...detail(answer) });
      return answer;
    } catch (thrown) {
      told({ code: IntersticeError.from(thrown).code });
      throw thrown;
    }
  }
}
