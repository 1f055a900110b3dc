import type { handleUnaryCall } from '@grpc/grpc-js';
import type { Logger } from '../../observe/log.js';
import { logFault } from '../../observe/log.js';
import { identify } from './refusal.js';
import type { UnaryWork } from './unary-methods.js';
import { visitOf } from './visit.js';

/** Makes a method of the library's from work on bytes: one answer or one refusal, whatever happens. */
export function unaryCall(work: UnaryWork, log: Logger): handleUnaryCall<Uint8Array, Uint8Array> {
  return async (call, respond) => {
    const visit = visitOf(call.metadata);
    try {
      const answer = await work(call.request, visit.context);
      visit.bytesOut += answer.byteLength;
      call.sendMetadata(identify(visit.requestId));
      respond(null, answer);
    } catch (thrown) {
      logFault(log, visit.requestId, thrown);
      // Whoever went away before has an outcome already, and nobody to tell.
      if (visit.outcome === undefined) respond(visit.refuse(thrown));
    }
  };
}
