import type { Test } from 'tap';
import type { CallContext } from '../../src/contract/call-context.js';
import type { OperationEvent } from '../../src/contract/events.js';
import type { CreateSessionRequest, SessionInfo, StepRequest } from '../../src/contract/sessions.js';
import type { OperationsOptions } from '../../src/session/operations.js';
import { ScheduledOperations } from '../../src/session/operations.js';
import { LIMITS } from '../support/job.js';
import { FakeClock, FakeScheduler } from './fake-scheduler.js';

export const ENGINE = { name: 'fake', adapter: '', software: true, maxBufferBytes: 0 };

/** Operations on a fake scheduler and a fake clock. */
export function openRoom(t: Test, more: Partial<OperationsOptions> = {}) {
  const scheduler = new FakeScheduler();
  const clock = new FakeClock();
  const events: OperationEvent[] = [];
  const logged: Record<string, unknown>[] = [];
  const operations = new ScheduledOperations(
    scheduler,
    {
      limits: { ...LIMITS, maxSessions: 8 },
      allowUnverified: false,
      clock,
      onEvent: (event) => events.push(event),
      log: (event, message) => logged.push({ ...event, message }),
      ...more,
    },
    ENGINE,
  );
  t.teardown(() => operations.close());
  return { scheduler, clock, events, logged, operations };
}

/** One triangle in two parts: vertices 0 and 1, vertex 2. */
export function opening(more: Partial<CreateSessionRequest> = {}): CreateSessionRequest {
  return {
    mesh: {
      vertexCount: 3,
      triangles: Uint32Array.of(0, 1, 2),
      parts: [
        { name: 'left', firstVertex: 0, vertexCount: 2 },
        { name: 'right', firstVertex: 2, vertexCount: 1, kinematic: true },
      ],
    },
    start: at(0),
    parameters: {},
    ...more,
  };
}

/** Every coordinate of the triangle at one value. */
export function at(value: number): Float32Array {
  return new Float32Array(9).fill(value);
}

export function stepOf({ id }: SessionInfo, target: number | undefined, more: Partial<StepRequest> = {}): StepRequest {
  return { sessionId: id, ...(target === undefined ? {} : { target: at(target) }), ...more };
}

export function tenant(name: string): CallContext {
  return { caller: { tenant: name, maxPriority: 'INTERACTIVE' } };
}
