import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { OPERATION_NAMES, OPERATIONS, type OperationRow } from '../../contract/operation-table.js';
import type { OperationName } from '../../contract/operations.js';

/** Name of the service in the contract. */
export const SERVICE = 'interstice.v1.CollisionService';

/** The only method that does not correspond to one operation: many steps on one stream. */
export const STREAM_METHOD = 'StepStream';

/** The operation of a method by its path, e.g. `/interstice.v1.CollisionService/Resolve`; undefined for other paths. */
export const operationOf = (path: string): OperationName | undefined => BY_PATH.get(path);

const pathOf = (method: string) => `/${SERVICE}/${method}`;

/** The method that answers with several messages. */
function streamMethodOf(name: OperationName): string | undefined {
  const { stream }: OperationRow = OPERATIONS[name];
  return stream?.grpcMethod;
}

/** The operations that have a method with a single answer message. */
export const UNARY_NAMES: readonly OperationName[] = OPERATION_NAMES.filter(
  (name) => OPERATIONS[name].grpcMethod !== streamMethodOf(name),
);

const STREAMED_METHODS: readonly (readonly [string, OperationName])[] = OPERATION_NAMES.flatMap((name) => {
  const method = streamMethodOf(name);
  return method === undefined ? [] : [[method, name] as const];
});

const BY_PATH: ReadonlyMap<string, OperationName> = new Map([
  ...UNARY_NAMES.map((name) => [pathOf(OPERATIONS[name].grpcMethod), name] as const),
  ...STREAMED_METHODS.map(([method, name]) => [pathOf(method), name] as const),
]);

/**
 * A method whose messages are bytes. The handlers decode and encode them: an exception in a decoder inside the library
 * would end the call with INTERNAL, although the request is at fault.
 */
type RawMethod = MethodDefinition<Uint8Array, Uint8Array>;

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function rawMethod(name: string, requestStream: boolean, responseStream: boolean): RawMethod {
  const asIs = (bytes: Buffer): Uint8Array => bytes;
  return {
    path: pathOf(name),
    requestStream,
    responseStream,
    requestSerialize: asBuffer,
    requestDeserialize: asIs,
    responseSerialize: asBuffer,
    responseDeserialize: asIs,
  };
}

type MethodName =
  | (typeof OPERATIONS)[OperationName]['grpcMethod']
  | 'ResolveStream'
  | 'UntangleStream'
  | typeof STREAM_METHOD;

/** The service as grpc-js expects it, for servers and for clients that exchange bytes. */
export const SERVICE_DEFINITION: ServiceDefinition & Record<MethodName, RawMethod> = Object.fromEntries([
  ...UNARY_NAMES.map((name) => [OPERATIONS[name].grpcMethod, rawMethod(OPERATIONS[name].grpcMethod, false, false)]),
  ...STREAMED_METHODS.map(([method]) => [method, rawMethod(method, false, true)]),
  [STREAM_METHOD, rawMethod(STREAM_METHOD, true, true)],
]) as Record<MethodName, RawMethod>;
