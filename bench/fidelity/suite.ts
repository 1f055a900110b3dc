import { relative } from 'node:path';
import { openOperations } from '../../examples/resolve-scene.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { EngineName } from '../engines.js';
import { describeMachine } from '../machine.js';
import { alignTable } from '../table.js';
import { findReference, type Reference } from './reference.js';
import { readReferences, writeReferences } from './references-file.js';
import { type FidelityRun, measureQualities } from './runs.js';
import { FIDELITY_SCENES, type FidelityScene, missingFiles, referenceNameOf } from './scenes.js';

export interface FidelityOptions {
  readonly engines: readonly EngineName[];
  /** empty = all */
  readonly scenes: readonly string[];
  /** scenes to choose from; default: those of the suite fidelity */
  readonly among?: readonly FidelityScene[];
  readonly qualities: readonly Quality[];
  readonly repeat: number;
  /** number of uncounted runs before them */
  readonly warmUp: number;
  readonly dataFolder: string | undefined;
  /** prints one row for a scene */
  print(text: string): void;
  /** reports progress */
  tell(text: string): void;
}

/** Columns of text come first. `short` counts kinematic vertices that are not on their targets. */
const HEADINGS = [
  ...['scene', 'quality', 'status', 'steps/searches', 'rms', 'max', 'edge error', 'overlong', 'max stretch', 'short'],
  ...['gap to reference', 'its overlong', 'solving ms', 'cpu ms', '× FAST'],
];

const chosen = (asked: readonly string[], among = FIDELITY_SCENES): readonly FidelityScene[] =>
  among.filter(({ name }) => asked.length === 0 || asked.includes(name));

const whyNot = (scene: FidelityScene, dataFolder: string | undefined): string | undefined => {
  const missing = missingFiles(scene, dataFolder);
  return missing.length === 0 ? undefined : `no ${missing[0]}`;
};

/** Measures how near the answers of each quality are to their targets, for whole requests: one table per engine. */
export async function runFidelity(options: FidelityOptions): Promise<void> {
  const { engines, scenes, among, qualities, repeat, warmUp, dataFolder, print, tell } = options;
  const references = readReferences();
  for (const engine of engines) {
    const operations = await openOperations(engine, 1);
    try {
      const { engines: described } = operations.info();
      const machine = describeMachine(described);
      print(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.platform}; engine ${engine}`);
      print(`medians of ${repeat} runs by turns, after ${warmUp} uncounted; lengths in the unit of the mesh\n`);
      const had = described.find(({ name }) => name.startsWith(engine))?.qualities ?? ['FAST'];
      const asked = qualities.filter((quality) => had.includes(quality));
      const rows: string[][] = [];
      const notes: string[] = [];
      for (const scene of chosen(scenes, among)) {
        const reason = whyNot(scene, dataFolder);
        if (reason !== undefined) {
          rows.push([scene.name, '', reason, ...HEADINGS.slice(3).map(() => '')]);
          continue;
        }
        tell(`${scene.name}: ${asked.join(', ')} …`);
        const request = await scene.make(dataFolder ?? '');
        const runs = await measureQualities(operations, request, {
          qualities: asked,
          repeat,
          warmUp,
          session: scene.session,
        });
        rows.push(...runs.map((run) => rowOf(scene.name, run, runs, references[referenceNameOf(scene) ?? ''])));
        for (const { frame, frameSteps, quality } of runs) {
          if (frame === 1) notes.push(`${scene.name}, ${quality}: steps of the frames ${frameSteps?.join(', ')}`);
        }
      }
      print(alignTable([HEADINGS, ...rows]));
      for (const note of notes) print(note);
      if (rows.some(([, , status]) => status.startsWith('no ')))
        print('Rows without files need --data or INTERSTICE_DATA.');
      const without = qualities.filter((quality) => !had.includes(quality));
      if (without.length > 0) print(`The engine ${engine} has no quality ${without.join(' or ')}.`);
    } finally {
      await operations.close();
    }
  }
}

function rowOf(
  scene: string,
  run: FidelityRun,
  runs: readonly FidelityRun[],
  reference: Reference | undefined,
): string[] {
  const { quality, frame, report, fidelity, solving, processor } = run;
  const { rms, max, edgeError, overlong, maxStretch } = fidelity;
  const fast = runs.find((other) => other.quality === 'FAST' && other.frame === frame);
  const isComparable =
    reference !== undefined &&
    frame !== 1 &&
    reference.sigma === report.resolved.stretchLimit &&
    Math.abs(reference.offset * report.resolved.activationDistance - report.resolved.contactOffset) <=
      1e-6 * report.resolved.contactOffset;
  return [
    frame === undefined ? scene : `${scene} ${frame}`,
    quality,
    report.status,
    `${report.steps}/${report.searches}`,
    ...[rms, max, edgeError].map((value) => value.toPrecision(3)),
    String(overlong),
    maxStretch.toFixed(3),
    String(report.unreachedKinematic),
    isComparable ? `${(100 * (rms / reference.rms - 1)).toFixed(1)} %` : '',
    isComparable ? String(reference.overlong) : '',
    ...[solving, processor].map((time) => time.toFixed(0)),
    fast && fast !== run ? (processor / fast.processor).toFixed(2) : '',
  ];
}

/** Computes the references of scenes again; sessions use those of their scenes. */
export async function findReferences({ scenes, dataFolder, print, tell }: FidelityOptions): Promise<void> {
  for (const scene of chosen(scenes)) {
    if (scene.session) continue;
    const reason = whyNot(scene, dataFolder);
    if (reason !== undefined) {
      print(`${scene.name}: ${reason}`);
      continue;
    }
    tell(`${scene.name}: reference …`);
    // Each is written as soon as it is found, because the next may take minutes.
    const reference = findReference(await scene.make(dataFolder ?? ''), tell);
    const file = writeReferences({ [scene.name]: reference });
    print(
      `${scene.name}: rms ${reference.rms.toPrecision(4)}, ${reference.overlong} overlong; wrote ${relative(process.cwd(), file)}`,
    );
  }
}
