import { createHash } from 'node:crypto';
import type { Scene, Size } from '../scenes/types.js';
import { assemble } from '../src/bodies.js';
import { ElasticElements } from '../src/elements.js';
import { Integrator, type IntegratorSettings, type State, type StepResult } from '../src/integrator.js';
import type { Model } from '../src/model.js';
import { energiesOf } from '../src/momentum.js';
import { type Parameters, Service } from '../src/service.js';
import type { FrameCache } from './cache.js';
import { makeJudge } from './judge.js';
import { judgeKnot } from './knots.js';
import { judgePile } from './layers.js';
import type { Played, RunFacts, StepRecord } from './records.js';

/** Repulsion reaches this many activation distances, within which the service's answers list pairs by default. */
const REPULSION_REACH = 2;
/** 1/s²: under gravity a layer is pressed a tenth of a millimetre into the repulsion */
const REPULSION_STIFFNESS = 1e5;
/**
 * Fine cloth and long time steps need many iterations: the spinning patch at full size 715 in its first time step. The
 * two solves from which friction is estimated may be ten times as coarse. With them small scenes take 0.7
 * (`rotating-sphere`, `mats`) to 1.15 times (`drapes`) the iterations of one estimate as fine as the rest.
 */
const SOLVER = { tolerance: 1e-3, estimateTolerance: 1e-2, maxSolverIterations: 3000 };

export interface PlayOptions {
  /** host:port of the gRPC server */
  readonly address: string;
  readonly size: Size;
  /** largest number of time steps, including saved ones */
  readonly frames: number;
  /** override those of the scene */
  readonly parameters: Parameters;
  readonly isJudged: boolean;
  readonly cache: FrameCache;
  readonly model: Model;
  /** of the service so far, s; absent or undefined if it is not known */
  readonly processorTime?: () => number | undefined;
  /** called after every step; false ends the scene early */
  readonly onStep: (record: StepRecord, of: number) => boolean;
}

/** Thrown if the answer of the service intersects, which must never happen. */
export class IntersectionError extends Error {}

/** Plays a scene, from the end of the cache. @throws IntersectionError */
export async function play(scene: Scene, options: PlayOptions): Promise<Played> {
  const { address, size, frames, cache, model, isJudged, onStep } = options;
  const processorTime = options.processorTime ?? (() => undefined);
  const before = cache.open();
  const records = before?.records ?? [];
  let state = before?.saved ?? cache.begin;
  const last = Math.min(cache.begin.frame + frames, scene.frames);
  if (state.frame < last) {
    const parameters = { ...scene.parameters, ...options.parameters };
    const apiKey = process.env.INTERSTICE_API_KEY;
    const service = await Service.open(address, model, state.x, parameters, { apiKey });
    try {
      const { algorithmVersion } = service;
      const solver = solverSettingsOf(scene);
      cache.agree({ algorithmVersion, parameters, solver, model: digestOf(scene, model, cache.begin) });
      const distances = {
        activationDistance: service.parameter('activationDistance'),
        contactOffset: service.parameter('contactOffset'),
      };
      const integrator = new Integrator(model, service, integratorSettingsOf(scene, distances));
      const judge = isJudged ? makeJudge(model) : undefined;
      while (state.frame < last) {
        const before = processorTime();
        const result = await integrator.step(state);
        const after = processorTime();
        state = result.state;
        const used = before === undefined || after === undefined ? undefined : after - before;
        const record = recordOf(model, result, { processorTime: used, intersections: judge?.(state.x) });
        records.push(record);
        cache.append(record, state);
        if (record.intersections) {
          throw new IntersectionError(
            `Frame ${record.frame} of ${scene.name} has ${record.intersections} intersections.`,
          );
        }
        if (!onStep(record, last)) break;
      }
    } finally {
      await service.close();
    }
  }
  return {
    scene,
    size,
    vertices: model.vertexCount,
    elements: describeElements(model),
    adapter: adaptersOf(records),
    firstFrame: cache.begin.frame,
    records,
    ...judgeOrder(scene, model, cache),
  };
}

/** Judges knots, garments and piles. */
export function judgeOrder(scene: Scene, model: Model, cache: FrameCache): Pick<Played, 'knot' | 'pile'> {
  const [knot, pile] = [judgeKnot(scene, model, cache), judgePile(scene, model, cache)];
  return { ...(knot ? { knot } : {}), ...(pile ? { pile } : {}) };
}

/** @param distances of the session, m */
export function integratorSettingsOf(
  scene: Scene,
  distances: { readonly activationDistance: number; readonly contactOffset: number },
): IntegratorSettings {
  return {
    ...solverSettingsOf(scene),
    repulsionDistance: REPULSION_REACH * distances.activationDistance,
    contactOffset: distances.contactOffset,
  };
}

/** Returns the solver's settings that do not depend on the session. */
const solverSettingsOf = (scene: Scene): RunFacts['solver'] => ({
  timeStep: scene.timeStep,
  iterations: scene.iterations ?? 1,
  ...(scene.coupling ? { coupling: scene.coupling } : {}),
  ...SOLVER,
  repulsionStiffness: scene.repulsionStiffness ?? REPULSION_STIFFNESS,
  ...(scene.friction ? { friction: scene.friction } : {}),
});

/** Shares of the time of a scene at which motions are sampled to distinguish them. */
const LOOKED_AT = [0.1, 0.37, 0.62, 1];

/** Hexadecimal digits that change with the meshes, the materials, the motions and the initial state. */
function digestOf(scene: Scene, model: Model, { x, velocity }: State): string {
  const { mesh, masses, isKinematic, limitedRest, gravity } = model;
  const hash = createHash('sha256');
  const { triangles, segments, particles, tetrahedra } = mesh;
  const rests = scene.bodies.map(({ geometry }) => geometry.rest ?? geometry.positions);
  const moved = LOOKED_AT.map((share) => {
    const positions = x.slice();
    model.prescribe(share * scene.frames * scene.timeStep, positions);
    return positions;
  });
  const meshes = [triangles, segments, particles, tetrahedra, masses, isKinematic];
  for (const array of [...meshes, x, velocity, ...rests, ...(limitedRest ? [limitedRest] : []), ...moved]) {
    hash.update(`${array.length} `);
    hash.update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }
  hash.update(JSON.stringify([scene.bodies.map(({ material }) => material), gravity]));
  return hash.digest('hex').slice(0, 16);
}

const adaptersOf = (records: readonly StepRecord[]): string =>
  [...new Set(records.map(({ engine }) => engine))].join(', ');

export const modelOf = (scene: Scene): Model => assemble(scene.bodies, scene.gravity);

function recordOf(
  model: Model,
  { state, iterations }: StepResult,
  { processorTime, intersections }: Record<'processorTime' | 'intersections', number | undefined>,
): StepRecord {
  const total = (value: (iteration: (typeof iterations)[number]) => number): number =>
    iterations.reduce((sum, iteration) => sum + value(iteration), 0);
  const { report, contacts, impulses, solverResidual } = iterations.at(-1)!;
  const strain = strainOf(model, state.x);
  return {
    frame: state.frame,
    engine: report.engine,
    version: report.version,
    statuses: iterations.map((iteration) => iteration.report.status),
    steps: total((iteration) => iteration.report.steps),
    pullBackSteps: total((iteration) => iteration.report.pullBack?.steps ?? 0),
    searches: total((iteration) => iteration.report.searches),
    reused: total((iteration) => Number(iteration.report.proximitySetReused)) / iterations.length,
    residual: report.residual,
    distanceRms: report.distanceToTargetRms,
    distanceMax: report.distanceToTargetMax,
    stretch: report.maxStretch,
    overlongEdges: report.overlongEdges,
    ...(strain ? { strain } : {}),
    ...(report.minDistance === undefined ? {} : { minDistance: report.minDistance }),
    contacts,
    unreachedKinematic: report.unreachedKinematic,
    cost: total(({ report: { timings } }) => timings.total! - timings.queue!) / 1e6,
    ...(processorTime === undefined ? {} : { processorTime }),
    serviceTime: total(({ serviceMs }) => serviceMs) / 1e3,
    dynamicsTime: total(({ dynamicsMs }) => dynamicsMs) / 1e3,
    solverIterations: total((iteration) => iteration.solverIterations),
    solverResidual,
    impulses,
    drift: impulses.total > 0 ? Math.hypot(...impulses.linear) / impulses.total : 0,
    energies: energiesOf(model, state.x, state.velocity),
    ...(intersections === undefined ? {} : { intersections }),
    warnings: [...new Set(iterations.flatMap((iteration) => iteration.report.warnings.map(({ code }) => code)))],
  };
}

function strainOf(model: Model, x: Float64Array): [number, number] | undefined {
  const elastic = model.forces.filter((force) => force instanceof ElasticElements);
  if (elastic.length === 0) return undefined;
  const all = elastic.map((force) => force.stretches(x));
  return [Math.min(...all.map(({ least }) => least)), Math.max(...all.map(({ most }) => most))];
}

export function describeElements({ mesh }: Model): string {
  const counts: [number, string][] = [
    [mesh.tetrahedra.length / 4, 'tetrahedra'],
    [mesh.triangles.length / 3, 'triangles'],
    [mesh.segments.length / 2, 'segments'],
    [mesh.particles.length, 'particles'],
  ];
  return counts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(', ');
}
