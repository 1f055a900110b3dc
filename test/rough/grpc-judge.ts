import { ERRORS, type ErrorCode, GRPC_STATUS } from '../../src/contract/errors.js';
import { codeInDetails } from '../../src/load/grpc-client.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import type { Ended } from './grpc-attacks.js';

/** Refusals that would be a fault of the service here: it is not draining, and it has no device. */
const FAULTS: ReadonlySet<string> = new Set<ErrorCode>(['INTERNAL', 'DRAINING', 'DEVICE_LOST', 'OUT_OF_DEVICE_MEMORY']);

/** How a call ended, in a word, for the list of what was reached. */
export const outcomeOf = ({ status, grpcStatus, details, reset }: Ended): string => {
  if (grpcStatus !== undefined) return codeInDetails(details) ?? `GRPC ${grpcStatus}`;
  return reset > 0 ? `reset ${reset}` : `HTTP ${status}`;
};

/** What is wrong with the end of a malformed call; undefined when it is a result or a typed refusal. */
export function objectionTo(ended: Ended, isOurMethod: boolean): string | undefined {
  const { status, grpcStatus, details, message, reset, body } = ended;
  const said = `HTTP ${status}, status ${grpcStatus}, reset ${reset}, ${message}`;
  // The library refuses what is no gRPC at all with an HTTP status.
  if (status >= 400) return status < 500 ? undefined : `a fault in HTTP's words: ${said}`;
  if (grpcStatus === undefined) return `no status: ${said}`;
  if (grpcStatus === 0) return objectionInBand(body);
  const code = codeInDetails(details);
  // An unknown method does not reach the service's door.
  if (code === undefined) {
    return grpcStatus === GRPC_STATUS.UNIMPLEMENTED && !isOurMethod ? undefined : `no details: ${said}`;
  }
  if (!(code in ERRORS)) return `the unknown code ${code}: ${said}`;
  if (FAULTS.has(code)) return `a fault of the service, ${code}: ${said}`;
  return GRPC_STATUS[ERRORS[code as ErrorCode].grpc] === grpcStatus
    ? undefined
    : `a status ${code} does not have: ${said}`;
}

/** Refusals in the messages of a stream; other answers have no field 3 that is an Error and pass. */
function objectionInBand(body: Buffer): string | undefined {
  for (let at = 0; at + 5 <= body.length; ) {
    const length = body.readUInt32BE(at + 1);
    const message = body.subarray(at + 5, at + 5 + length);
    at += 5 + length;
    let code: string | undefined;
    try {
      code = (decodeMessage('StepStreamResponse', message).error as { code?: string } | undefined)?.code;
    } catch {
      continue;
    }
    if (code !== undefined && (!(code in ERRORS) || FAULTS.has(code))) return `in band: ${code}`;
  }
  return undefined;
}
