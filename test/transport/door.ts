import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Test } from 'tap';
import type { Operations } from '../../src/contract/operations.js';
import { buildHttpApp } from '../../src/transport/http/app.js';
import type { HttpOptions } from '../../src/transport/http/options.js';
import { BodyLedger } from '../../src/transport/intake/body-ledger.js';
import { ServiceState } from '../../src/transport/service-state.js';
import { FakeOperations } from './fake-operations.js';

/** A ready door on any operations, closed with the test. */
export async function openApp(
  t: Test,
  operations: Operations,
  json: HttpOptions['json'] = {},
): Promise<FastifyInstance> {
  const state = new ServiceState();
  state.move('ready', 'The service takes requests.');
  const log = pino({ level: 'silent' });
  const app = await buildHttpApp({ operations, state, maxMessageBytes: 1 << 20, bodies: new BodyLedger(0), json, log });
  await app.ready();
  t.teardown(() => app.close());
  return app;
}

/** A ready door on fake operations, closed with the test; its log lines are kept. */
export async function openDoor(
  t: Test,
  maxMessageBytes = 65536,
  maxJsonBytes?: number,
  json: HttpOptions['json'] = {},
  intake: Partial<Pick<HttpOptions, 'bodies' | 'arrivalTimes' | 'answerStallMs' | 'discardLimits'>> = {},
) {
  const operations = new FakeOperations();
  const state = new ServiceState();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  state.move('ready', 'The service takes requests.');
  const bodies = intake.bodies ?? new BodyLedger(0);
  const app = await buildHttpApp({ operations, state, maxMessageBytes, maxJsonBytes, json, log, ...intake, bodies });
  await app.ready();
  t.teardown(() => app.close());
  return { app, operations, state, lines, bodies };
}
