import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requestOf } from '../../examples/resolve-scene.js';
import { EXAMPLES } from '../../examples/scenes/index.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { readMeshFile, toMeshInput } from '../../src/mesh/files/index.js';
import { makeStack } from './stack.js';

/** A pair that the suite measures. */
export interface FidelityScene {
  readonly name: string;
  /** Files below the folder of real inputs that it is made from; empty = it is generated. */
  readonly files: readonly string[];
  /** Absent = one resolve. */
  readonly session?: FidelitySession;
  /** @param dataFolder holds the files */
  make(dataFolder: string): Promise<ResolveRequest>;
}

/** HELD: every frame sends the target, so that what is lost from frame to frame shows. ADVANCING: the target comes in equal parts. */
export interface FidelitySession {
  readonly kind: 'HELD' | 'ADVANCING';
  readonly frames: number;
}

const FRAMES = 8;

const generated = Object.entries({ ...EXAMPLES, stack: makeStack }).map(
  ([name, make]): FidelityScene => ({ name, files: [], make: async () => requestOf(make()) }),
);

async function readPair(
  start: string,
  target: string,
  isKinematic: (vertex: number) => boolean = () => false,
): Promise<ResolveRequest> {
  const [x, y] = [await readMeshFile(start), await readMeshFile(target)];
  const kinematic = Uint8Array.from({ length: x.vertexCount }, (_, i) => (isKinematic(i) ? 1 : 0));
  return {
    mesh: { ...toMeshInput(x), kinematic },
    start: x.positions,
    target: y.positions,
    parameters: {},
  };
}

const THICK_CLOTH = ['thick_cloth/x.ply', 'thick_cloth/y.ply'] as const;

const thickCloth: FidelityScene = {
  name: 'thick_cloth',
  files: THICK_CLOTH,
  make: (folder) => readPair(join(folder, THICK_CLOTH[0]), join(folder, THICK_CLOTH[1])),
};

const DRESS = ['dress/x.obj', 'dress/y_kick1_eighth.obj'] as const;
/** The first vertices are the garment, the rest is the mannequin. */
const MANNEQUIN_FROM = 15105;

/** @param move maps the target's coordinates, given the start's */
const dressed = (
  name: string,
  move: (start: Positions, target: Positions) => Positions = (_, y) => y,
): FidelityScene => ({
  name,
  files: DRESS,
  make: async (folder) => {
    const pair = await readPair(join(folder, DRESS[0]), join(folder, DRESS[1]), (i) => i >= MANNEQUIN_FROM);
    return { ...pair, target: move(pair.start, pair.target) };
  },
});

/** The same motion `times` as far. */
const furtherBy =
  (times: number) =>
  (start: Positions, target: Positions): Positions =>
    target.map((y, k) => start[k] + times * (y - start[k]));

/** Turned about the vertical axis (y) and moved along x. @param angle radians @param by the mesh's unit */
const turnedAndMoved =
  (angle: number, by: number) =>
  (_: Positions, target: Positions): Positions => {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const moved = target.slice();
    for (let k = 0; k < target.length; k += 3) {
      moved[k] = cos * target[k] + sin * target[k + 2] + by;
      moved[k + 2] = cos * target[k + 2] - sin * target[k];
    }
    return moved;
  };

/** 20 degrees and 30 cm: a step of a walk. */
const STEP = turnedAndMoved(Math.PI / 9, 0.3);

const once: readonly FidelityScene[] = [
  ...generated,
  thickCloth,
  dressed('dress'),
  dressed('dress-x8', furtherBy(8)),
  dressed('dress-moved', STEP),
];

/** The moved dress would stand still after its first frame. */
const inSessions = once.filter(({ name }) => name !== 'dress-moved');

const sessions = (['HELD', 'ADVANCING'] as const).flatMap((kind) =>
  inSessions.map((scene) => ({
    ...scene,
    name: `${scene.name}/${kind.toLowerCase()}`,
    session: { kind, frames: FRAMES },
  })),
);

export const FIDELITY_SCENES: readonly FidelityScene[] = [...once, ...sessions];

/** The scene that has the same target and is resolved at once: its reference is that of a session too. */
export const referenceNameOf = ({ name }: FidelityScene): string => name.split('/')[0];

/** Files of a scene that are not there: all of them where no folder is known. */
export function missingFiles({ files }: FidelityScene, dataFolder: string | undefined): readonly string[] {
  return dataFolder === undefined ? files : files.filter((file) => !existsSync(join(dataFolder, file)));
}
