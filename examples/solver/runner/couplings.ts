import { startOf } from '../src/integrator.js';
import {
  type Coupling,
  IsometricIntegrator,
  type IsometricRecord,
  type IsometricSettings,
} from '../src/isometric/integrator.js';
import { makeShell, type ShellScene } from '../src/isometric/shell.js';
import { Service } from '../src/service.js';
import { drawCharts } from './chart.js';
import { makeJudge } from './judge.js';

export const COUPLINGS: readonly Coupling[] = ['staggered', 'simultaneous'];
const PROJECTION = { maxIterations: 30 };
const MAX_CALLS = 10;
/**
 * The gap of contacts in targets, relative to that for which the service aims: it changes a target whose gaps are
 * smaller, and a projection keeps them to a hundredth.
 */
const GAP = 1.05;
/** D of the tangential directions of contacts, relative to the diagonal of B·M⁻¹·Bᵀ: they yield to all others (3.30) */
const TANGENTIAL_SOFTNESS = 1e-2;
/** Answers list pairs that are nearer than this many activation distances. */
const REACH = 2;

/** Results of a coupling in a scene; times in s, energies in J. */
export interface CouplingRow {
  readonly scene: string;
  readonly coupling: Coupling;
  readonly nodes: number;
  readonly frames: number;
  readonly engine: string;
  /** largest over the frames, of distances between red nodes and of edges of the base mesh */
  readonly maxStrain: number;
  readonly meanStrain: number;
  readonly maxEdgeStrain: number;
  /** the same for the targets, before the service: the part that is not due to collisions */
  readonly maxTargetEdgeStrain: number;
  readonly maxBendingEnergy: number;
  readonly meanBendingEnergy: number;
  /** sum over the frames of | B(t) − B(t − h) |: a measure of its oscillation */
  readonly bendingVariation: number;
  readonly seconds: number;
  readonly serviceSeconds: number;
  readonly calls: number;
  readonly iterations: number;
  /** projections that reached their limit of iterations */
  readonly cutShort: number;
  /** frames whose strain is above the tolerance */
  readonly framesAbove: number;
  /** found by the judge, over all frames */
  readonly intersections: number;
}

export interface Compared {
  readonly scene: ShellScene;
  /** empty for a coupling that was not played */
  readonly records: Readonly<Record<Coupling, readonly IsometricRecord[]>>;
  readonly rows: readonly CouplingRow[];
}

/** Plays a scene with some couplings and judges every frame. @param tell receives lines about the progress */
export async function playCouplings(
  scene: ShellScene,
  address: string,
  frames: number,
  couplings: readonly Coupling[],
  tell: (line: string) => void,
): Promise<Compared> {
  const records: Record<Coupling, IsometricRecord[]> = { staggered: [], simultaneous: [] };
  const rows: CouplingRow[] = [];
  for (const coupling of couplings) {
    const shell = makeShell(scene);
    const { model } = shell;
    const judge = makeJudge(model);
    const service = await Service.open(address, model, startOf(model).x, {});
    let intersections = 0;
    try {
      const integrator = new IsometricIntegrator(shell, service, settingsOf(scene, coupling, service));
      let state = startOf(model);
      while (state.frame < Math.min(frames, scene.frames)) {
        const result = await integrator.step(state);
        state = result.state;
        records[coupling].push(result.record);
        intersections += judge(state.x);
        if (state.frame % 20 === 0) tell(`${scene.name}, ${coupling}: frame ${state.frame}`);
      }
    } finally {
      await service.close();
    }
    const nodes = shell.mesh.blackCount + shell.mesh.redCount;
    rows.push(rowOf(scene, coupling, nodes, records[coupling], intersections));
  }
  return { scene, records, rows };
}

/** The settings with which a scene is played. */
export const settingsOf = (scene: ShellScene, coupling: Coupling, service: Service): IsometricSettings => ({
  ...{ coupling, timeStep: scene.timeStep, maxCalls: MAX_CALLS, strainTolerance: scene.strainTolerance },
  projection: PROJECTION,
  contact: {
    gap: GAP * service.parameter('contactOffset'),
    tangentialSoftness: TANGENTIAL_SOFTNESS,
    ...(scene.friction ? { friction: scene.friction } : {}),
  },
  contactDistance: REACH * service.parameter('activationDistance'),
});

function rowOf(
  { name, strainTolerance }: ShellScene,
  coupling: Coupling,
  nodes: number,
  records: readonly IsometricRecord[],
  intersections: number,
): CouplingRow {
  const column = (value: (record: IsometricRecord) => number): number[] => records.map(value);
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
  const energies = column(({ bendingEnergy }) => bendingEnergy);
  return {
    scene: name,
    coupling,
    nodes,
    frames: records.length,
    engine: records[0]?.report.engine ?? '',
    maxStrain: most(column(({ strain }) => strain)),
    meanStrain: sum(column(({ strain }) => strain)) / records.length,
    maxEdgeStrain: most(column(({ edgeStrain }) => edgeStrain)),
    maxTargetEdgeStrain: most(column(({ targetEdgeStrain }) => targetEdgeStrain)),
    maxBendingEnergy: most(energies),
    meanBendingEnergy: sum(energies) / records.length,
    bendingVariation: sum(energies.slice(1).map((value, i) => Math.abs(value - energies[i]!))),
    seconds: sum(column(({ projectionMs, serviceMs }) => projectionMs + serviceMs)) / 1e3,
    serviceSeconds: sum(column(({ serviceMs }) => serviceMs)) / 1e3,
    calls: sum(column(({ calls }) => calls)),
    iterations: sum(column((record) => record.iterations)),
    cutShort: sum(column((record) => record.cutShort)),
    framesAbove: records.filter(({ strain }) => strain > strainTolerance).length,
    intersections,
  };
}

/** Draws Figs. 4.2 to 4.4 of the thesis, one above the other, as SVG. */
export function plotComparison({ scene, records }: Compared): string {
  const series = (value: (record: IsometricRecord) => number) => ({
    lines: (['simultaneous', 'staggered'] as const)
      .filter((name) => records[name].length > 0)
      .map((name) => ({ name, values: records[name].map(value) })),
  });
  return drawCharts(`${scene.name}: collisions inside the Newton loop, and after it`, [
    { title: 'maximum strain', isLogarithmic: true, ...series(({ strain }) => strain) },
    { title: 'bending energy, J', isLogarithmic: false, ...series(({ bendingEnergy }) => bendingEnergy) },
    {
      title: 'time, s',
      isLogarithmic: false,
      ...series(({ projectionMs, serviceMs }) => (projectionMs + serviceMs) / 1e3),
    },
  ]);
}

const short = (value: number): string => (value === 0 ? '0' : Number(value.toPrecision(3)).toString());

const COLUMNS: readonly (readonly [string, (row: CouplingRow) => string])[] = [
  ['scene', ({ scene, nodes }) => `${scene}, ${nodes} nodes`],
  ['coupling', ({ coupling }) => coupling],
  ['frames', ({ frames }) => String(frames)],
  ['strain: mean (maximum)', ({ meanStrain, maxStrain }) => `${short(meanStrain)} (${short(maxStrain)})`],
  ['frames above the tolerance', ({ framesAbove }) => String(framesAbove)],
  [
    'bending energy, J: mean (maximum)',
    ({ meanBendingEnergy, maxBendingEnergy }) => `${short(meanBendingEnergy)} (${short(maxBendingEnergy)})`,
  ],
  ['its variation, J', ({ bendingVariation }) => short(bendingVariation)],
  ['time, s (of the service)', ({ seconds, serviceSeconds }) => `${short(seconds)} (${short(serviceSeconds)})`],
  ['calls', ({ calls }) => String(calls)],
  ['Gauss-Newton', ({ iterations }) => String(iterations)],
  ['projections cut short', ({ cutShort }) => String(cutShort)],
  ['intersections', ({ intersections }) => String(intersections)],
];

export function makeComparison(all: readonly Compared[]): string {
  const lines = [
    COLUMNS.map(([heading]) => heading),
    COLUMNS.map(() => '---'),
    ...all.flatMap(({ rows }) => rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))),
  ];
  return `${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
}
