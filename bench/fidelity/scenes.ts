import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requestOf } from '../../examples/resolve-scene.js';
import { EXAMPLES } from '../../examples/scenes/index.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { readMeshFile, toMeshInput } from '../../src/mesh/files/index.js';
import { movingDress, walkingDress } from '../scenes/moving-dress.js';
import { makeStack } from './stack.js';

/** A pair that the suite measures. */
export interface FidelityScene {
  readonly name: string;
  /** Files below the folder of real inputs that the scene needs; empty = it is generated. */
  readonly files: readonly string[];
  /** Absent = one resolve. */
  readonly session?: FidelitySession;
  /** @param dataFolder holds the files */
  make(dataFolder: string): Promise<ResolveRequest>;
}

/** The targets of the frames of a session. */
export interface FidelitySession {
  readonly frames: number;
  /** @param k the frame, from 0 */
  target(request: ResolveRequest, k: number): Positions;
}

const FRAMES = 8;

/** Every frame sends the same target, so that losses from frame to frame show. */
const HELD: FidelitySession = { frames: FRAMES, target: ({ target }) => target };

/** The target approaches in equal parts. */
const ADVANCING: FidelitySession = {
  frames: FRAMES,
  target: ({ start, target }, k) =>
    k === FRAMES - 1 ? target : target.map((y, c) => start[c] + ((k + 1) / FRAMES) * (y - start[c])),
};

/** 3 cm and 2 degrees per frame. */
const WALKING: FidelitySession = {
  frames: FRAMES,
  target: (request, k) => walkingDress(request, k + 1)[k],
};

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
/** The first vertices are the garment, the others the mannequin. */
const MANNEQUIN_FROM = 15105;

const dressed = (name: string, change: (pair: ResolveRequest) => ResolveRequest = (pair) => pair): FidelityScene => ({
  name,
  files: DRESS,
  make: async (folder) =>
    change(await readPair(join(folder, DRESS[0]), join(folder, DRESS[1]), (i) => i >= MANNEQUIN_FROM)),
});

/** The same motion, `times` as far. */
const furtherBy =
  (times: number) =>
  (pair: ResolveRequest): ResolveRequest => ({
    ...pair,
    target: pair.target.map((y, k) => pair.start[k] + times * (y - pair.start[k])),
  });

const once: readonly FidelityScene[] = [...generated, thickCloth, dressed('dress'), dressed('dress-x8', furtherBy(8))];

/** Moved as a whole by 20 degrees and 30 cm. */
const moving: readonly FidelityScene[] = (['alone', 'floor', 'pillar', 'passing'] as const).map((among) =>
  dressed(`dress-moving-${among}`, (pair) => movingDress(pair, among)),
);

const sessions: readonly FidelityScene[] = [
  ...once.map((scene) => ({ ...scene, name: `${scene.name}/held`, session: HELD })),
  ...once.map((scene) => ({ ...scene, name: `${scene.name}/advancing`, session: ADVANCING })),
  { ...dressed('dress/walking'), session: WALKING },
];

export const FIDELITY_SCENES: readonly FidelityScene[] = [...once, ...moving, ...sessions];

/** Returns the scene with the same target in one resolve, whose reference is also that of a session's last frame. */
export const referenceNameOf = ({ name }: FidelityScene): string | undefined =>
  name === 'dress/walking' ? undefined : name.split('/')[0];

/** Missing files of a scene: all of them if no folder is known. */
export function missingFiles({ files }: FidelityScene, dataFolder: string | undefined): readonly string[] {
  return dataFolder === undefined ? files : files.filter((file) => !existsSync(join(dataFolder, file)));
}
