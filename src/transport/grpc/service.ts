import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** Name of the service in the contract. */
export const SERVICE = 'interstice.v1.CollisionService';

/** Methods that take one message and answer with one; the stream has an entry of its own. */
export const UNARY_METHODS = [
  'Resolve',
  'CreateSession',
  'GetSession',
  'ListSessions',
  'UpdateSession',
  'DeleteSession',
  'Step',
  'Check',
  'GetServerInfo',
] as const;

export type UnaryName = (typeof UNARY_METHODS)[number];

/**
 * Bytes in, bytes out. Messages are read and written by the handlers: a decoder that throws inside the library ends the
 * call as INTERNAL, though the caller sent nonsense.
 */
type RawMethod = MethodDefinition<Uint8Array, Uint8Array>;

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function rawMethod(name: string, isStream: boolean): RawMethod {
  const asIs = (bytes: Buffer): Uint8Array => bytes;
  return {
    path: `/${SERVICE}/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: asBuffer,
    requestDeserialize: asIs,
    responseSerialize: asBuffer,
    responseDeserialize: asIs,
  };
}

/** The service as the library wants it; clients that speak in bytes can use it too. */
export const SERVICE_DEFINITION: ServiceDefinition & Record<UnaryName | 'StepStream', RawMethod> = Object.fromEntries([
  ...UNARY_METHODS.map((name) => [name, rawMethod(name, false)]),
  ['StepStream', rawMethod('StepStream', true)],
]) as Record<UnaryName | 'StepStream', RawMethod>;
