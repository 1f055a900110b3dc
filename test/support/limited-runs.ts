import type { Test } from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { Engine, Resolution, StepInput } from '../../src/solver/engine.js';
import { findIntersections } from '../../src/verify/state.js';
import { pinch, scatteredSheet, stackSwap } from '../solver/cases.js';
import { type OpenCase, openCase } from './open-case.js';
import { type Random, seeded } from './random.js';
import { SceneBuilder } from './scene-builder.js';
import { flatSheet, scaled, tetrahedralBlock } from './sheet.js';

interface Motion {
  readonly mesh: MeshInput;
  readonly start: Float64Array;
  readonly target: Float64Array;
}

/** Strands, held at one end, that are swept through each other. */
function strands(): Motion {
  const scene = new SceneBuilder();
  for (let s = 0; s < 6; s++) {
    const from = (s % 2 === 0 ? 0.03 : -0.03) + 0.001 * s;
    scene.strand(
      Array.from({ length: 5 }, (_, k) => ({
        at: [from, -0.01 * k, 0.002 * s],
        to: [k === 0 ? from : -from, -0.01 * k, 0.002 * s + 0.006 * Math.sin(k + s)],
      })),
      true,
    );
  }
  return scene.build();
}

/** A plate that rises under a cloth, or far beyond it. */
function plate(random: Random): Motion {
  const scene = new SceneBuilder();
  scene.sheet(3, (u, v) => ({ at: [u - 0.5, 0.02, v - 0.5], to: [u - 0.5, 0.05, v - 0.5] }));
  const height = [0.05, 0.2, 2][random.int(3)]!;
  const at = (u: number, v: number, y: number) => [0.8 * (u - 0.5), y, 0.8 * (v - 0.5)] as const;
  scene.sheet(2, (u, v) => ({ at: at(u, v, 0), to: at(u, v, height) }), true);
  return scene.build();
}

/** Patches with distant targets, each its own group. */
function groups(random: Random): Motion {
  const scene = new SceneBuilder();
  for (let g = 0; g < 3; g++) {
    const [dx, dy, dz] = [random.between(-20, 20), random.between(-20, 20), random.between(-20, 20)];
    scene.sheet(2, (u, v) => {
      const [x, y, z] = [0.5 * u + 1.2 * g, 0.1 * g, 0.5 * v];
      return { at: [x, y, z], to: [x + dx, y + dy, z + dz] };
    });
  }
  return scene.build();
}

/** A sheet, or a solid, with strain limits, of which some vertices may be kinematic. */
function strained(random: Random): Motion {
  const isSheet = random() < 0.5;
  const { vertexCount, rest, ...elements } = isSheet ? flatSheet(4, 3) : tetrahedralBlock(1);
  const target = scaled(rest, [[2, 1.05, 1][random.int(3)]!, [0.5, 1, 0.9][random.int(3)]!, 1]);
  const isHeld = random() < 0.4;
  const kinematic = Uint8Array.from({ length: vertexCount }, (_, v) => (isHeld && v % 5 === 0 ? 1 : 0));
  const mesh = { vertexCount, ...elements, kinematic, strainLimits: { rest, min: 0.95, max: 1.05 } };
  // The target of a sheet may be its start, out of its limits.
  const start = isSheet && random() < 0.3 ? target : rest;
  return { mesh, start: Float64Array.from(start), target: Float64Array.from(target) };
}

/** Small scenes of every kind that the phases of a run distinguish. */
function tinyMotion(random: Random): Motion {
  const makers: readonly (() => Motion)[] = [
    () => stackSwap(2 + random.int(3)).build(),
    () => pinch([-4e-3, 1e-4, 1e-3][random.int(3)]!).build(),
    () => scatteredSheet(4, 4, random).build(),
    strands,
    () => plate(random),
    () => groups(random),
    () => strained(random),
  ];
  return makers[random.int(makers.length)]!();
}

function tinyParameters(random: Random): ParametersInput {
  const quality = (['FAST', 'BALANCED', 'FINE', 'FINE'] as const)[random.int(4)]!;
  return {
    quality,
    stepLimit: 1 + random.int(random() < 0.7 ? 40 : 80),
    ...(quality === 'FAST' && random() < 0.3 ? { preset: 'PAPER' as const } : {}),
    ...(random() < 0.3 ? { stretchLimit: [0, 1.01, 1.3][random.int(3)]! } : {}),
    ...(random() < 0.2 ? { residualTolerance: [0.5, 0.01, 1e-6][random.int(3)]! } : {}),
  };
}

const RULES = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;

/** A run asks a few times a step whether it should stop; one that has asked this often is endless. */
const ENDLESS = 2000;

interface Told extends Resolution {
  /** states of the path, if they were asked for */
  readonly states: readonly Float32Array[];
}

async function run(opened: OpenCase, at: Float32Array, to: Float32Array, asked: { states?: boolean; stop?: number }) {
  const states: Float32Array[] = [];
  let [steps, questions] = [0, 0];
  const onState: StepInput['onState'] = (state) => states.push(state.slice());
  const resolution = await opened.scene.resolve({
    ...{ x: at, y: to },
    shouldStop: () => ++questions > ENDLESS || steps >= (asked.stop ?? Number.POSITIVE_INFINITY),
    onProgress: (progress) => {
      steps = progress.steps;
    },
    ...(asked.states ? { onState } : {}),
  });
  return { ...resolution, states };
}

/** What an answer says, without the time that it took. */
const textOf = ({ timings, states, positions, residuals, pullBack, ...rest }: Told): string =>
  JSON.stringify([rest, [...positions], [...residuals], pullBack?.steps, [...(pullBack?.before ?? [])]]);

/** What is wrong with what an answer says of itself. */
function objectionsTo(
  { status, steps, residual, residuals, unfinishedVertices, positions, states }: Told,
  { parameters, x }: Pick<OpenCase, 'parameters' | 'x'>,
  { hasStates, mayStop }: { hasStates: boolean; mayStop: boolean },
): string[] {
  const unfinished = residuals.filter((r) => r >= parameters.residualTolerance).length;
  const largest = residuals.reduce((most, r) => Math.max(most, r), 0);
  const end = states.at(-1) ?? x;
  const objections: readonly (readonly [boolean, string])[] = [
    [steps > parameters.stepLimit, `${steps} steps of ${parameters.stepLimit}`],
    [status === 'DEADLINE' && !mayStop, 'DEADLINE'],
    [unfinishedVertices !== unfinished, `${unfinishedVertices} unfinished vertices, not ${unfinished}`],
    [Math.abs(residual - largest) > 1e-6, `residual ${residual}, not ${largest}`],
    [status === 'CONVERGED' && unfinished > 0, `CONVERGED, ${unfinished} unfinished`],
    [status !== 'CONVERGED' && unfinished === 0, `${status}, none unfinished`],
    [hasStates && !end.every((value, k) => Object.is(value, positions[k])), 'the path ends elsewhere'],
  ];
  return objections.flatMap(([isWrong, objection]) => (isWrong ? [objection] : []));
}

/**
 * A sheet rests at its target, out of its limits: after a step or two no vertex wants to move towards it, and only the
 * last steps are left, which bring elements or edges within the limits. A run that is cut there names what they were
 * still to move.
 */
export async function expectUnservedUnfinished(t: Test, engine: Engine): Promise<void> {
  const { vertexCount, rest, triangles } = flatSheet(4, 3);
  const stretched = Float64Array.from(scaled(rest, [1.3, 1, 1]));
  const own = { vertexCount, triangles };
  const meshes: Record<string, MeshInput> = {
    strains: { ...own, strainLimits: { rest, min: 0.95, max: 1.05 } },
    lengths: { ...own, restLengths: { positions: rest } },
  };
  for (const [name, mesh] of Object.entries(meshes)) {
    const parameters = { quality: 'BALANCED', stretchLimit: 1.05 } as const;
    const open = (stepLimit: number) => openCase(engine, mesh, stretched, stretched, { ...parameters, stepLimit });
    const whole = await (await open(512)).resolve();
    t.equal(whole.status, 'CONVERGED', name);
    let cuts = 0;
    for (let stepLimit = 1; stepLimit <= whole.steps; stepLimit++) {
      const opened = await open(stepLimit);
      const answer = await opened.resolve();
      opened.scene.close();
      const wrong = objectionsTo({ ...answer, states: [] }, opened, { hasStates: false, mayStop: false });
      t.same(wrong, [], `${name}, ${stepLimit} steps`);
      if (answer.status === 'STEP_LIMIT') cuts++;
    }
    t.ok(cuts > 0, `${name}: a limit has ended ${cuts} of ${whole.steps} runs`);
  }
}

/**
 * A run whose vertices are on their targets, and whose time is over before it begins: it has converged, unless its last steps
 * were still to move something.
 */
export async function expectTruthAtTarget(t: Test, engine: Engine): Promise<void> {
  const { vertexCount, rest, triangles } = flatSheet(4, 3);
  const mesh = { vertexCount, triangles, strainLimits: { rest, min: 0.95, max: 1.05 } };
  const cases = [
    ['BALANCED', 1, 'CONVERGED'],
    ['BALANCED', 1.3, 'DEADLINE'],
    ['FAST', 1.3, 'CONVERGED'],
  ] as const;
  for (const [quality, stretch, expected] of cases) {
    const x = Float64Array.from(scaled(rest, [stretch, 1, 1]));
    const opened = await openCase(engine, mesh, x, x, { quality });
    const answer = await run(opened, opened.x, opened.y, { stop: 0 });
    t.equal(answer.status, expected, `${quality}, ${stretch} times as long`);
    t.same(objectionsTo(answer, opened, { hasStates: false, mayStop: true }), []);
    opened.scene.close();
  }
}

/**
 * Tiny scenes at random, with step limits in which each phase may be the last one. Each run ends, and tells the truth
 * about how far it got; a run whose states are read one by one has the answer of one that is left alone; one that is
 * stopped after any step ends with a state of that path or, in the pull-back, with its best one, and the scene serves
 * on.
 */
export async function expectTruthAtLimits(t: Test, engine: Engine, rounds: number): Promise<void> {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < rounds; round++) {
    const { mesh, start, target } = tinyMotion(random);
    const parameters = tinyParameters(random);
    const built = buildMesh(mesh);
    const open = () => openCase(engine, mesh, start, target, parameters);
    const [alone, watched, stopped] = [await open(), await open(), await open()];
    const { x, y } = alone;
    const half = y.map((value, k) => Math.fround(0.5 * (x[k]! + value)));
    const wrong: string[] = [];
    let at = x;
    let most = 0;
    for (const aim of [y, half]) {
      const answer = await run(alone, at, aim, {});
      const shown = await run(watched, at, aim, { states: true });
      const of = { parameters: alone.parameters, x: at };
      wrong.push(...objectionsTo(answer, of, { hasStates: false, mayStop: false }));
      wrong.push(...objectionsTo(shown, of, { hasStates: true, mayStop: false }));
      if (textOf(answer) !== textOf(shown)) wrong.push('another answer where its states are read');
      at = answer.positions;
      most = Math.max(most, answer.steps);
    }
    const stop = random.int(1 + most);
    const early = await run(stopped, x, y, { states: random() < 0.5, stop });
    wrong.push(...objectionsTo(early, stopped, { hasStates: early.states.length > 0, mayStop: true }));
    const later = await run(stopped, early.positions, y, {});
    wrong.push(...objectionsTo(later, stopped, { hasStates: false, mayStop: false }));
    for (const { positions } of [early, later])
      if (findIntersections(built, Float64Array.from(positions), RULES).intersectionCount > 0)
        wrong.push('it intersects');
    for (const { scene } of [alone, watched, stopped]) scene.close();
    t.same(wrong, [], `round ${round}: ${JSON.stringify(parameters)}, stopped after ${stop}`);
  }
}
