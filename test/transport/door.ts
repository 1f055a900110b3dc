import { pino } from 'pino';
import type { Test } from 'tap';
import { buildHttpApp } from '../../src/transport/http/app.js';
import { ServiceState } from '../../src/transport/http/state.js';
import { FakeOperations } from './fake-operations.js';

/** A ready door on fake operations, closed with the test; its log lines are kept. */
export async function openDoor(t: Test, maxMessageBytes = 65536) {
  const operations = new FakeOperations();
  const state = new ServiceState();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  state.move('ready', 'The service takes requests.');
  const app = await buildHttpApp({ operations, state, maxMessageBytes, log });
  await app.ready();
  t.teardown(() => app.close());
  return { app, operations, state, lines };
}
