import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { Operations } from '../../src/contract/operations.js';
import { projectRoot } from '../../src/paths.js';
import { findSecret, makePlainCloth, makeSecretCloth, memoryOf, secretNumber } from '../support/secret.js';
import { roundsOf } from '../support/share.js';
import { type Answers, openTwoTenants, type Tenant, type TwoTenants } from './two-tenants.js';

/**
 * No answer contains data of another tenant: one tenant's data is recognised by its numbers, its sessions are closed, and then
 * every byte that another tenant gets is searched for them, at both doors, with meshes of the same shape, which reuse freed
 * memory most likely. What the device itself does with freed memory: test/gpu/device/recycled-memory.test.ts.
 */

// A software adapter compiles its kernels first, on a machine that may be busy.
t.setTimeout(600_000);

/** The secret's sessions and answers come and go so often before each search. */
const ROUNDS = roundsOf(3, 3);

/** Answers with all arrays that a step or a resolve can have. */
const MESSAGES = ['http step message', 'http resolve', 'grpc step', 'grpc resolve'];

const isGpuRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';

t.test('the search finds the secret at any alignment, in either scalar, scaled and negated', async (t) => {
  for (const exponent of [-30, -1, 0, 1, 40]) {
    for (const number of [secretNumber(exponent), -secretNumber(exponent)]) {
      for (const array of [Float32Array.of(number), Float64Array.of(number)]) {
        for (let offset = 0; offset < 9; offset++) {
          const bytes = new Uint8Array(32).fill(0xaa);
          bytes.set(new Uint8Array(array.buffer), offset);
          t.ok(findSecret(bytes) >= offset, `${array.constructor.name} ${number} at ${offset}`);
        }
      }
    }
  }
  const { start, target } = makePlainCloth();
  t.equal(findSecret(new Uint8Array(start.buffer)), -1);
  t.equal(findSecret(new Uint8Array(target.buffer)), -1);
});

t.test('memory that is not cleared is allocated in one place, which overwrites all of it', async (t) => {
  const sources = ['src', 'gpu'].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('generated'))
      .map((path) => join(folder, path)),
  );
  const users = sources.filter((path) =>
    /allocUnsafe|new SlowBuffer/.test(readFileSync(join(projectRoot, path), 'utf8')),
  );
  t.same(users, [join('src', 'transport', 'protobuf', 'encode.ts')]);
});

for (const engine of ['cpu', 'webgpu'] as const) {
  t.test(`${engine}: no answer has a number of another tenant in it`, async (t) => {
    const room = await openOrSkip(t, engine);
    if (!room) return;
    const { red, blue, operations } = room;
    for (let round = 0; round < ROUNDS; round++) {
      const own = await red.askEverything(makeSecretCloth());
      // In bounds and lengths too, which are all that a session reports of its mesh.
      const sessions = ['http session', 'grpc session', 'grpc read'];
      if (round === 0) sees(t, own, [...sessions, 'http step', ...MESSAGES]);
    }
    const { sessions } = await operations.listSessions({}, { caller: red.caller });
    t.same(sessions, [], 'the secret is gone');
    const answers = await blue.askEverything(makePlainCloth());
    t.ok(Object.values(answers).every((bytes) => bytes.byteLength > 0));
    sees(t, answers, []);
    t.same(await memoryWithSecret(operations, blue), [], 'nor in the memory behind its arrays');
  });
}

t.test('planted: one number of the secret in any array of an answer is seen at both doors', async (t) => {
  const plant = { where: undefined as string | undefined };
  const room = await openTwoTenants(t, 'cpu', (operations) => planting(operations, plant));
  for (const [where, expected] of [
    ['positions', ['http step', ...MESSAGES]],
    ['contacts', MESSAGES],
    ['vertices', MESSAGES],
  ] as const) {
    plant.where = where;
    sees(t, await room.blue.askEverything(makePlainCloth()), expected);
  }
});

/** Asserts in which of the answers the secret is. */
function sees(t: Test, answers: Answers, expected: readonly string[]): void {
  const found = Object.entries(answers).filter(([, bytes]) => findSecret(bytes) >= 0);
  t.same(found.map(([name]) => name).sort(), [...expected].sort());
}

async function openOrSkip(t: Test, engine: 'cpu' | 'webgpu'): Promise<TwoTenants | undefined> {
  try {
    return await openTwoTenants(t, engine);
  } catch (thrown) {
    if (isGpuRequired || !(thrown instanceof IntersticeError) || thrown.code !== 'INVALID_PARAMETER') throw thrown;
    t.pass(`no engine ${engine} here`, { skip: thrown.message });
    return undefined;
  }
}

/** A step and a resolve without doors: which arrays have the secret anywhere in the memory that they are views of. */
async function memoryWithSecret(operations: Operations, { caller }: Tenant): Promise<string[]> {
  const { mesh, start, target } = makePlainCloth();
  const include = { contacts: true, vertices: true };
  const session = await operations.createSession({ mesh, start, parameters: {} }, { caller });
  const step = await operations.step({ sessionId: session.id, target, include }, { caller });
  const resolve = await operations.resolve({ mesh, start, target, parameters: {}, include }, { caller });
  await operations.deleteSession(session.id, { caller });
  return Object.entries({ step, resolve }).flatMap(([name, answer]) =>
    memoryOf(answer).flatMap((bytes, i) => (findSecret(bytes) >= 0 ? [`${name}[${i}]`] : [])),
  );
}

/** Operations with a fault: their answers carry a number of the secret in the array that `plant` names. */
function planting(operations: Operations, plant: { readonly where: string | undefined }): Operations {
  const spoil = async <T extends Awaited<ReturnType<Operations['resolve']>>>(given: Promise<T>): Promise<T> => {
    const answer = await given;
    const { positions, contacts, vertices } = answer;
    const array = { positions, contacts: contacts?.distances, vertices: vertices?.residual }[plant.where ?? ''];
    if (array) array[array.length - 1] = secretNumber(3);
    return answer;
  };
  return new Proxy(operations, {
    get: (from, name) => {
      if (name === 'step') return (...given: Parameters<Operations['step']>) => spoil(from.step(...given));
      if (name === 'resolve') return (...given: Parameters<Operations['resolve']>) => spoil(from.resolve(...given));
      const value = from[name as keyof Operations] as unknown;
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
}
