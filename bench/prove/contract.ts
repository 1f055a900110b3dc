import { join } from 'node:path';
import protobuf from 'protobufjs';
import { projectRoot } from '../../src/paths.js';

/*
 * The contract as a stranger reads it: the .proto file and a library, none of the service's own code for messages.
 */

const folder = join(projectRoot, 'proto');
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => (target.startsWith('google/') ? target : join(folder, target));
root.loadSync('interstice/v1/collision.proto');

const STATUS = protobuf.parse(`syntax = "proto3";
  message Packed { string type_url = 1; bytes value = 2; }
  message RpcStatus { int32 code = 1; string message = 2; repeated Packed details = 3; }`).root;

export type Plain = Readonly<Record<string, unknown>>;

export function encode(name: string, message: Plain): Uint8Array {
  const type = root.lookupType(`interstice.v1.${name}`);
  // fromObject takes enum names and drops nothing that is spelt right; what is misspelt is this campaign's own fault.
  return type.encode(type.fromObject(message)).finish();
}

export function decode(name: string, bytes: Uint8Array): Plain {
  const type = root.lookupType(`interstice.v1.${name}`);
  return type.toObject(type.decode(bytes), { longs: String, enums: String, defaults: true });
}

/** The contract's Error out of a gRPC trailer; undefined where there is none. */
export function errorInTrailer(bytes: Uint8Array): Plain | undefined {
  const type = STATUS.lookupType('RpcStatus');
  const { details } = type.toObject(type.decode(bytes)) as { details?: { value: Uint8Array }[] };
  return details?.[0] ? decode('Error', details[0].value) : undefined;
}
