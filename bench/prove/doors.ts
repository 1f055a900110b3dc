import { GrpcCarrier, HttpCarrier } from './carriers.js';
import { Client } from './client.js';
import type { Door } from './door.js';
import { ProtobufDoor } from './protobuf-door.js';
import type { ServerProcess } from './server.js';

export const DOORS = ['JSON', 'PROTOBUF', 'GRPC'] as const;
export type DoorName = (typeof DOORS)[number];

export function openDoors(server: ServerProcess): Readonly<Record<DoorName, Door>> {
  return {
    JSON: new Client(server.address),
    PROTOBUF: new ProtobufDoor(new HttpCarrier(server.address)),
    GRPC: new ProtobufDoor(new GrpcCarrier(server.grpcAddress)),
  };
}
