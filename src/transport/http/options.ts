import type { Operations } from '../../contract/operations.js';
import type { Logger, RequestLine } from '../../observe/log.js';
import type { Authenticate } from '../auth/keyring.js';
import type { CoderOptions } from '../json/coder.js';
import type { ServiceState } from './state.js';

/** What every plugin of the door is given. */
export interface DoorOptions {
  readonly operations: Operations;
  readonly state: ServiceState;
  /** largest body, in bytes */
  readonly maxMessageBytes: number;
  /** largest body in JSON, which takes many times its bytes while it is read; default: as any other */
  readonly maxJsonBytes?: number | undefined;
  /** what JSON is read and written on a thread of its own, and on which; for tests */
  readonly json?: CoderOptions;
  readonly log: Logger;
  /** who calls; absent: everybody is welcome */
  readonly authenticate?: Authenticate | undefined;
  /** told of every answer, refusals at the door included: for metrics */
  readonly onAnswered?: ((line: RequestLine) => void) | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** performance.now() when the head of the request had arrived */
    receivedAt: number;
    /** code of the refusal that answers it, for the log */
    refusal: string | undefined;
  }
}
