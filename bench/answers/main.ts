import { createHash, type Hash } from 'node:crypto';
import '../closed-pipe.js';
import { openOperations, requestOf } from '../../examples/resolve-scene.js';
import { SCENES } from '../../examples/scenes/index.js';
import { IntersticeError } from '../../src/contract/errors.js';
import type { Operations } from '../../src/contract/operations.js';
import type { ResolveAnswer, ResolveRequest } from '../../src/contract/requests.js';
import { CASES, randomScene } from '../../test/solver/cases.js';
import { seeded } from '../../test/support/random.js';
import { makeCases } from '../cases.js';
import { endWithUsage, readFlags } from '../command-line.js';

const HELP = `npm run answers -- [options] > answers.txt

Prints digests of the positions and of the whole of every answer over the table of cases, random scenes, the examples and (with data) the
dress: two versions of the product whose lists are equal give equal answers to the byte. Digests of the engine webgpu are comparable on one adapter only.

  --engine A,B     cpu (default), webgpu
  --data FOLDER    meshes of the dress (default: the environment's INTERSTICE_DATA; without it, no dress)
`;

const RANDOM_SCENES = 12;
const SESSION_FRAMES = 4;
/** Cases that would run for hundreds of steps are cut short: equality up to this point is as informative. */
const STEP_LIMIT = 120;

type Request = Pick<ResolveRequest, 'mesh' | 'start' | 'target' | 'parameters'>;

/** Yields each request of preset TUNED in FAST, which is Algorithm 1 alone, and in BALANCED. */
async function* inQualities(
  requests: AsyncIterable<readonly [string, Request]>,
): AsyncGenerator<readonly [string, Request]> {
  for await (const [name, request] of requests) {
    if (request.parameters.preset === 'PAPER') {
      yield [name, request];
      continue;
    }
    for (const quality of ['FAST', 'BALANCED'] as const) {
      yield [`${name}, ${quality}`, { ...request, parameters: { ...request.parameters, quality } }];
    }
  }
}

async function* makeRequests(dataFolder: string | undefined): AsyncGenerator<readonly [string, Request]> {
  for (const { name, mesh, start, target, parameters } of CASES) {
    yield [name, { mesh, start, target, parameters: { stepLimit: STEP_LIMIT, ...parameters } }];
    const paper = { preset: 'PAPER', activationDistance: 1e-3, stepLimit: 8 } as const;
    yield [`${name}, PAPER`, { mesh, start, target, parameters: paper }];
  }
  const random = seeded(20261122);
  for (let k = 0; k < RANDOM_SCENES; k++) {
    const { mesh, start, target } = randomScene(random).build();
    yield [`random scene ${k}`, { mesh, start, target, parameters: { stepLimit: STEP_LIMIT } }];
  }
  for (const [name, make] of Object.entries(SCENES)) yield [`example ${name}`, requestOf(make(undefined))];
  if (dataFolder !== undefined) {
    for await (const { scene, request } of makeCases(['dress'], [], dataFolder)) yield [scene, request];
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: NodeJS.TypedArray) =>
  new Uint8Array(buffer, byteOffset, byteLength);

const told = (hash: Hash): string => hash.digest('hex').slice(0, 24);

/** Digests of the positions alone, and of the whole answer. */
const digestsOf = ({ positions, report, contacts, vertices }: ResolveAnswer): string => {
  const hash = createHash('sha256').update(bytesOf(positions));
  const alone = told(hash.copy());
  for (const array of [...Object.values(contacts ?? {}), ...Object.values(vertices ?? {})]) hash.update(bytesOf(array));
  // Times differ from run to run; the wording of warnings and the names of versions are not part of the numbers of an
  // answer.
  const { timings, engine, version, warnings, ...numbers } = report;
  hash.update(JSON.stringify({ ...numbers, warnings: warnings.map(({ code, count }) => ({ code, count })) }));
  return `${alone} ${told(hash)}`;
};

const attempt = async (work: () => Promise<ResolveAnswer>): Promise<string> => {
  try {
    const answer = await work();
    return `${digestsOf(answer)} ${answer.report.status} ${answer.report.steps}`;
  } catch (thrown) {
    if (thrown instanceof IntersticeError) return `refused ${thrown.code}`;
    throw thrown;
  }
};

const include = { contacts: true, vertices: true };

/** Plays a session whose target moves from the start to the target and beyond it, frame by frame. */
async function stepThrough(operations: Operations, { mesh, start, target, parameters }: Request): Promise<string[]> {
  const { id } = await operations.createSession({ mesh, start, parameters });
  const lines: string[] = [];
  for (let frame = 1; frame <= SESSION_FRAMES; frame++) {
    const share = frame / (SESSION_FRAMES - 1);
    const towards = Float64Array.from(target, (value, k) => start[k] + share * (value - start[k]));
    lines.push(await attempt(() => operations.step({ sessionId: id, frame: BigInt(frame), target: towards, include })));
  }
  await operations.deleteSession(id);
  return lines;
}

async function printAnswers(engine: 'cpu' | 'webgpu', dataFolder: string | undefined): Promise<void> {
  const operations = await openOperations(engine, 1);
  try {
    for await (const [name, request] of inQualities(makeRequests(dataFolder))) {
      const line = await attempt(() => operations.resolve({ ...request, include }));
      process.stdout.write(`${engine} | ${name} | ${line}\n`);
      if (name.endsWith('PAPER') || line.startsWith('refused')) continue;
      const frames = await stepThrough(operations, request);
      for (const [k, frame] of frames.entries())
        process.stdout.write(`${engine} | ${name}, frame ${k + 1} | ${frame}\n`);
    }
  } finally {
    await operations.close();
  }
}

async function main(): Promise<void> {
  const values = readFlags(HELP, {
    options: { engine: { type: 'string', default: 'cpu' }, data: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const engines = values.engine.split(',').map((engine) => {
    if (engine === 'cpu' || engine === 'webgpu') return engine;
    return endWithUsage(`--engine takes cpu and webgpu, not ${engine}.`, HELP);
  });
  for (const engine of engines) await printAnswers(engine, values.data ?? process.env.INTERSTICE_DATA);
}

await main();
