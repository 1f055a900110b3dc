import type { Test } from 'tap';
import { readConfig } from '../../src/config/config.js';
import type { OperationName, Operations } from '../../src/contract/operations.js';
import type { Limits } from '../../src/contract/server-info.js';
import { createOperations } from '../../src/session/operations.js';
import type { Call, Case, Json } from './case.js';
import { CASES } from './cases.js';

/** What a door answered: one of the two. `error` has the fields of the contract's `Error`, in the JSON mapping. */
export interface Outcome {
  readonly answer?: Json;
  readonly error?: Json;
}

export interface Door {
  /** undefined where this door cannot carry the call at all; the case then ends here */
  call(operation: OperationName, request: Json): Promise<Outcome | undefined>;
}

/** Real operations on the CPU engine, with room for a few sessions, closed with the test. */
export async function openOperations(t: Test): Promise<Operations> {
  const config = readConfig({ INTERSTICE_ENGINE: 'cpu', INTERSTICE_THREADS: '1' });
  const { engine, threads, allowUnverified } = config;
  const limits: Limits = { ...config.limits, maxSessions: 16, maxDeviceBytes: 1 << 28 };
  const operations = await createOperations({ engine, threads, limits, allowUnverified });
  t.teardown(() => operations.close());
  return operations;
}

/** Every case through one door. */
export async function runCases(t: Test, door: Door): Promise<void> {
  for (const one of CASES) await t.test(one.name, (t) => runCase(t, door, one));
}

async function runCase(t: Test, door: Door, { calls }: Case): Promise<void> {
  let id = '$id';
  for (const [i, call] of calls.entries()) {
    const outcome = await door.call(call.operation, withId(call.request, id) as Json);
    if (outcome === undefined) {
      t.comment(`this door cannot carry ${call.operation} (call ${i})`);
      if (i === 0) t.pass('nothing to carry');
      return;
    }
    compare(t, withId(call, id) as Call, outcome, `${i}: ${call.operation}`);
    if ((call.operation === 'createSession' || call.operation === 'submitJob') && outcome.answer)
      id = String(outcome.answer.id);
  }
}

/** An answer where a refusal is expected, or the other way round, fails with all that was sent. */
function compare(t: Test, call: Call, { answer, error }: Outcome, name: string): void {
  if (call.refusal) {
    if (error) t.match(error, { ...call.refusal }, name);
    else t.fail(`${name} was answered, expected ${call.refusal.code}`, { answer });
  } else if (answer) t.match(answer, call.answer ?? {}, name);
  else t.fail(`${name} was refused`, { error });
}

/** The value with `$id` replaced, at any depth. Patterns stay what they are. */
function withId(value: unknown, id: string): unknown {
  if (value === '$id') return id;
  if (Array.isArray(value)) return value.map((item) => withId(item, id));
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, withId(item, id)]),
  );
}
