import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { decodeJson } from '../../../src/transport/json/decode.js';
import {
  toCheckRequest,
  toCreateSessionRequest,
  toListSessionsRequest,
  toResolveRequest,
  toStepRequest,
  toUpdateSessionRequest,
} from '../../../src/transport/messages/requests.js';
import type { WireMessage } from '../../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { type Random, seeded } from '../../support/random.js';

const mesh = {
  vertexCount: 4,
  triangles: [0, 1, 2],
  kinematic: [0, 0, 0, 1],
  parts: [{ name: 'körper', firstVertex: 0, vertexCount: 4, kinematic: true }],
};
const start = { data: [0, 0, 0], scalar: 'FLOAT64' };
const parameters = { preset: 'TUNED', reach: 0.1, stepLimit: 3, verify: 'PATH' };

/** Requests in the JSON mapping, and who reads them. */
const SEEDS: Readonly<Record<string, readonly [object, (message: WireMessage) => unknown]>> = {
  ResolveRequest: [
    { mesh, start, target: start, parameters, include: { contacts: true }, timeBudget: '1.5s', onBudget: 'FAIL' },
    toResolveRequest,
  ],
  CheckRequest: [{ mesh, positions: start, maxPairs: 3, kinematicPairs: 'SKIP' }, toCheckRequest],
  CreateSessionRequest: [
    { mesh, start, parameters, label: 'cape', idleTimeout: '60s', idempotencyKey: 'k' },
    toCreateSessionRequest,
  ],
  UpdateSessionRequest: [{ sessionId: 'abc', parameters, idleTimeout: '0s', label: '' }, toUpdateSessionRequest],
  ListSessionsRequest: [{ pageSize: 3, pageToken: 'x', label: 'y' }, toListSessionsRequest],
  StepRequest: [
    {
      sessionId: 'abc',
      frame: '18446744073709551615',
      partTargets: [{ part: 'a', target: start }],
      start,
      override: { damping: 0.5 },
      priority: 'BATCH',
    },
    toStepRequest,
  ],
};

const ROUNDS = 40_000;

const INTERESTING = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0b, 0x0c, 0x0f];

/** A copy with bytes changed, inserted, cut out, or put elsewhere. */
function mutate(body: Uint8Array, random: Random): Uint8Array {
  const at = random.int(body.length + 1);
  switch (random.int(6)) {
    case 0:
      return body.slice(0, at);
    case 1: {
      const copy = body.slice();
      if (at < copy.length) copy[at] = random.int(256);
      return copy;
    }
    case 2: {
      const copy = body.slice();
      if (at < copy.length) copy[at]! ^= 1 << random.int(8);
      return copy;
    }
    case 3: {
      const run = Array.from({ length: 1 + random.int(12) }, () => INTERESTING[random.int(INTERESTING.length)]!);
      return Uint8Array.from([...body.subarray(0, at), ...run, ...body.subarray(at)]);
    }
    case 4:
      return Uint8Array.from([
        ...body.subarray(0, at),
        ...body.subarray(Math.min(body.length, at + 1 + random.int(8))),
      ]);
    default:
      return Uint8Array.from([...body, ...body.subarray(at)]);
  }
}

t.test('mutated bodies end in a request or a refusal, in nothing else', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const seeds = Object.entries(SEEDS).map(([type, [json, read]]) => ({
    type,
    read,
    // A Buffer's slice is no copy.
    body: Uint8Array.from(encodeMessage(type, decodeJson(type, json).message)),
  }));
  for (const { type, read, body } of seeds) t.ok(read(decodeMessage(type, body)), `${type} itself is taken`);
  const outcomes = new Map<string, number>();
  const expected = ['accepted', 'MALFORMED_BODY', 'UNKNOWN_FIELD', 'INVALID_PARAMETER', 'SIZE_MISMATCH'];
  // The rarest is met some eight times in so many rounds: where chance has left one out, there are more of them.
  const isComplete = () => expected.every((outcome) => outcomes.has(outcome));
  for (let i = 0; i < ROUNDS || (i < 10 * ROUNDS && !isComplete()); i++) {
    const { type, read, body } = seeds[random.int(seeds.length)]!;
    let mutant: Uint8Array = body;
    for (let n = random.int(3); n >= 0; n--) mutant = mutate(mutant, random);
    let outcome = 'accepted';
    try {
      read(decodeMessage(type, mutant));
    } catch (error) {
      if (!(error instanceof IntersticeError) || error.code === 'INTERNAL') {
        t.fail('something else was thrown', { type, error, mutant: Buffer.from(mutant).toString('hex') });
        return;
      }
      outcome = error.code;
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  t.comment(JSON.stringify(Object.fromEntries(outcomes)));
  for (const outcome of expected) t.ok(outcomes.has(outcome), `${outcome} was reached`);
});
