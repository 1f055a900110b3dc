import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { OPERATION_NAMES, OPERATIONS } from '../../contract/operation-table.js';
import type { OperationName } from '../../contract/operations.js';

/** Name of the service in the contract. */
export const SERVICE = 'interstice.v1.CollisionService';

/** The only method that is no operation of its own: many steps on one stream. */
export const STREAM_METHOD = 'StepStream';

/** The operation of a unary method by its path, e.g. `/interstice.v1.CollisionService/Resolve`; undefined for other paths. */
export const operationOf = (path: string): OperationName | undefined => BY_PATH.get(path);

const pathOf = (method: string) => `/${SERVICE}/${method}`;

const BY_PATH: ReadonlyMap<string, OperationName> = new Map(
  OPERATION_NAMES.map((name) => [pathOf(OPERATIONS[name].grpcMethod), name] as const),
);

/**
 * A method whose messages are bytes. The handlers decode and encode them: an exception in a decoder inside the library would
 * end the call with INTERNAL, although the request is at fault.
 */
type RawMethod = MethodDefinition<Uint8Array, Uint8Array>;

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function rawMethod(name: string, isStream: boolean): RawMethod {
  const asIs = (bytes: Buffer): Uint8Array => bytes;
  return {
    path: pathOf(name),
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: asBuffer,
    requestDeserialize: asIs,
    responseSerialize: asBuffer,
    responseDeserialize: asIs,
  };
}

type MethodName = (typeof OPERATIONS)[OperationName]['grpcMethod'] | typeof STREAM_METHOD;

/** The service as grpc-js expects it, for servers and for clients that exchange bytes. */
export const SERVICE_DEFINITION: ServiceDefinition & Record<MethodName, RawMethod> = Object.fromEntries([
  ...OPERATION_NAMES.map((name) => [OPERATIONS[name].grpcMethod, rawMethod(OPERATIONS[name].grpcMethod, false)]),
  [STREAM_METHOD, rawMethod(STREAM_METHOD, true)],
]) as Record<MethodName, RawMethod>;
