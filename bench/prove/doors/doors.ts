import { setTimeout as wait } from 'node:timers/promises';
import type { ServerProcess } from '../server.js';
import { GrpcCarrier, HttpCarrier } from './carriers.js';
import type { Door, Opened, Reply } from './door.js';
import { Client } from './json-door.js';
import { ProtobufDoor } from './protobuf-door.js';

export const DOORS = ['JSON', 'PROTOBUF', 'GRPC'] as const;
export type DoorName = (typeof DOORS)[number];

export function openDoors(server: ServerProcess): Readonly<Record<DoorName, Door>> {
  return {
    JSON: new Client(server.address),
    PROTOBUF: new ProtobufDoor(new HttpCarrier(server.address)),
    GRPC: new ProtobufDoor(new GrpcCarrier(server.grpcAddress)),
  };
}

/** ms for which a request that found no room is repeated, and between two attempts */
const PATIENCE = 120_000;
const PAUSE = 30;

/**
 * Doors of a service that has room for only some sessions. While all of these compute, none can be parked for another,
 * and the service refuses with a retryable error, which is correct and changes nothing.
 *
 * @param discardTrace of a request that was refused halfway; the next attempt has the same id
 */
export function makePatient(
  doors: Readonly<Record<DoorName, Door>>,
  discardTrace: (requestId: string) => void,
): Readonly<Record<DoorName, Door>> {
  return Object.fromEntries(DOORS.map((name) => [name, patient(doors[name], discardTrace)])) as Record<DoorName, Door>;
}

function patient(door: Door, discardTrace: (requestId: string) => void): Door {
  return {
    resolve: (...asked) => door.resolve(...asked),
    untangle: (...asked) => door.untangle(...asked),
    createSession: (...asked) => untilThereIsRoom(() => door.createSession(...asked)),
    step: (...asked) =>
      untilThereIsRoom(
        () => door.step(...asked),
        () => {
          const requestId = asked[4]?.requestId;
          if (requestId !== undefined) discardTrace(requestId);
        },
      ),
    stepFast: (...asked) => untilThereIsRoom(() => door.stepFast(...asked)),
    deleteSession: (id) => door.deleteSession(id),
    check: (...asked) => door.check(...asked),
    close: () => door.close(),
  };
}

async function untilThereIsRoom<T extends Reply | Opened>(ask: () => Promise<T>, onFull = () => {}): Promise<T> {
  const until = performance.now() + PATIENCE;
  for (;;) {
    const reply = await ask();
    const isFull = 'refusal' in reply && reply.refusal.isRetryable && reply.refusal.code === 'OUT_OF_DEVICE_MEMORY';
    if (!isFull || performance.now() > until) return reply;
    onFull();
    await wait(PAUSE);
  }
}
