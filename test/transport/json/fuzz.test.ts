import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { readOptions } from '../../../src/transport/json/options.js';
import { toCheckRequest, toResolveRequest } from '../../../src/transport/messages/requests.js';
import { type Random, seeded } from '../../support/random.js';

const SEEDS: Record<string, unknown> = {
  ResolveRequest: {
    mesh: {
      vertexCount: 4,
      triangles: [0, 1, 2],
      kinematic: 'AAAAAQ==',
      parts: [{ name: 'a', firstVertex: 0, vertexCount: 4, kinematic: true }],
    },
    start: { data: [0, 0, 0], scalar: 'FLOAT64' },
    target: { data: 'AAAAAA==', scalar: 1 },
    parameters: { preset: 'TUNED', reach: 0.1, stepLimit: 3, verify: 'PATH' },
    include: { contacts: true, contactDistance: 0.1 },
    timeBudget: '1.5s',
    onBudget: 'FAIL',
    priority: 'NORMAL',
  },
  CheckRequest: { mesh: { vertexCount: 1 }, positions: { data: [0, 0, 0] }, maxPairs: 3, kinematicPairs: 'SKIP' },
  Options: {
    parameters: { damping: 0.5 },
    kinematicFrom: 2,
    kinematicVertices: [0, 1],
    kinematicParts: ['body.obj'],
    timeBudget: '2s',
  },
};

const STRANGE: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => true,
  () => -1,
  () => 1.5,
  () => 2 ** 60,
  () => Number.POSITIVE_INFINITY,
  () => '',
  () => 'NaN',
  () => '=',
  // Two bytes: no whole number of anything but flags.
  () => 'AAA=',
  () => '\ud800',
  () => [],
  () => [[]],
  () => [null, 'x', {}],
  () => ({}),
  () => ({ length: 3, 0: 1 }),
  () => JSON.parse('{"__proto__": {"vertexCount": 1}}'),
  () => ({ toString: 1, valueOf: null, constructor: [] }),
];
const KEYS = ['mesh', 'data', 'scalar', 'parts', '__proto__', 'constructor', 'toString', '', 'vertex_count', 'name'];

const pick = <T>(list: readonly T[], random: Random): T => list[random.int(list.length)] as T;

/** A copy with one place changed: replaced, removed, added, or moved under another name. */
function mutate(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.15) return pick(STRANGE, random)();
  if (Array.isArray(value)) {
    const copy = [...value];
    const at = random.int(copy.length + 1);
    copy[at] = mutate(copy[at], random);
    return copy;
  }
  const copy: Record<string, unknown> = { ...value };
  const keys = Object.keys(copy);
  const key = keys.length > 0 && random() < 0.85 ? pick(keys, random) : pick(KEYS, random);
  const choice = random();
  if (choice < 0.1) delete copy[key];
  else if (choice < 0.2) copy[pick(KEYS, random)] = copy[key];
  else copy[key] = mutate(copy[key], random);
  return copy;
}

t.test('mutated requests end in a request or a refusal, in nothing else', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const context = { vertexCount: 4, parts: [{ name: 'body.obj', firstVertex: 2, vertexCount: 2 }] };
  const outcomes = new Map<string, number>();
  for (let i = 0; i < 30_000; i++) {
    const [type, seed] = pick(Object.entries(SEEDS), random);
    let value = seed;
    for (let n = random.int(4); n >= 0; n--) value = mutate(value, random);
    let outcome = 'accepted';
    try {
      if (type === 'Options') readOptions(value, context);
      else if (type === 'ResolveRequest') toResolveRequest(decodeJson(type, value).message);
      else toCheckRequest(decodeJson(type, value).message);
    } catch (error) {
      if (!(error instanceof IntersticeError) || error.code === 'INTERNAL') {
        t.fail('something else was thrown', { type, error, value: JSON.stringify(value) });
        return;
      }
      outcome = error.code;
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  t.equal(({} as Record<string, unknown>).vertexCount, undefined, 'no prototype was touched');
  const expected = ['accepted', 'MALFORMED_BODY', 'UNKNOWN_FIELD', 'NOT_FINITE', 'INVALID_PARAMETER', 'SIZE_MISMATCH'];
  for (const outcome of expected) t.ok(outcomes.has(outcome), `${outcome} was reached`);
});
