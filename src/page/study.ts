import type { CertificateVerdict } from '../../checker/certificate.mjs';
import type { ResolveResult, UntangledState } from '../client/types.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Path } from '../contract/path.js';
import type { CheckAnswer } from '../contract/requests.js';
import type { LayerHint } from '../contract/untangle.js';
import type { MeshFile } from '../mesh/files/types.js';

/** A named state of a study that is shown as it is, not on the way from one to another. */
export type StateName = 'start' | 'target' | 'answer';

/** The file that a start came from: an answer that is saved has what it holds besides the mesh. */
export interface Source {
  readonly file: MeshFile;
  /** the bytes of a .glb file, which are whole; a .gltf file has others beside it */
  readonly glb?: Uint8Array<ArrayBuffer>;
}

/** Everything that the page shows at once: one mesh, where it is, where it shall go, and what came of it. */
export interface Study {
  readonly title: string;
  readonly mesh: MeshInput;
  /** [3·V] */
  readonly start: Positions;
  /** [3·V]; undefined where only one file was opened */
  readonly target: Positions | undefined;
  /** States of the path in order, start first; between two of them every vertex moves on a straight line. */
  readonly path: readonly Positions[];
  /** What led to each state of the path, in words; empty where the solver's path is not known and it leads straight to the answer. */
  readonly pathWords: readonly string[];
  readonly answer: ResolveResult | undefined;
  /** What the service found in states that are not certain to be free. */
  readonly checks: Readonly<Partial<Record<'start' | 'target', CheckAnswer>>>;
  /** Absent where the start came from no file that was opened here. */
  readonly source?: Source;
  /** The verdict on the certificate that this came from; then the last state of the path is the answer, and nothing else is known of it. */
  readonly certificate?: CertificateVerdict;
  /** How the start was untangled; then the last state of the path is that answer. */
  readonly untangled?: UntangledState;
  /** What was said for it. */
  readonly hints?: Hints;
}

/** What a person may say about a tangle. */
export interface Hints {
  readonly layers: readonly LayerHint[];
  /** ids of contours whose other side is the wrong one */
  readonly turned: readonly number[];
}

/** To what lengths of edges are compared, and their limit with them. */
export const comparedLength = ({ restLengths }: MeshInput): 'at rest' | 'in the target' =>
  restLengths ? 'at rest' : 'in the target';

/** Whether there is a path to slide along. */
export const hasPath = ({ answer, certificate, untangled }: Study): boolean =>
  answer !== undefined || certificate !== undefined || untangled !== undefined;

/** The study with an untangled start in place of an answer; the way to it is not tested, so it is shown as it is. */
export function withUntangled(study: Study, untangled: UntangledState, hints: Hints): Study {
  const path = [study.start, untangled.positions];
  return { ...study, answer: undefined, untangled, hints, path, pathWords: ['start', 'untangled'], checks: {} };
}

/** A pair without an answer. */
export function studyOfPair(pair: Pick<Study, 'title' | 'mesh' | 'start' | 'target'>): Study {
  return { ...pair, path: [pair.start], pathWords: [], answer: undefined, checks: {} };
}

/** The study with the answer, and the path that led to it if the answer has it; otherwise the straight way, which nobody has tested. */
export function withAnswer(study: Study, answer: ResolveResult): Study {
  const { path } = answer;
  if (!path) return { ...study, answer, path: [study.start, answer.positions], pathWords: [] };
  return { ...study, answer, ...statesOf(path, study.mesh.vertexCount) };
}

/** The states of a path, as views, and what led to each. */
export function statesOf({ phases, steps, positions }: Path, vertexCount: number): Pick<Study, 'path' | 'pathWords'> {
  const width = 3 * vertexCount;
  const pathWords = Array.from(phases, (phase, i) => {
    const step = steps[i]!;
    return `${PHASE_WORDS[phase] ?? 'step'}${step > 0 ? `, step ${step}` : ''}`;
  });
  return { path: pathWords.map((_, i) => positions.subarray(i * width, (i + 1) * width)), pathWords };
}

/** By the number in the contract's enum Phase. */
const PHASE_WORDS: readonly string[] = [
  'step',
  'start',
  'rounded start',
  'moved as a whole',
  'free flight',
  'forward',
  'obstacles arrive',
  'pulled back',
  'edges shortened',
  'impulses',
];

/** The state between two neighbours on the path. @param at 0 = the start, 1 = the last state */
export function stateOnPath(path: readonly Positions[], at: number, out: Float64Array): Float64Array {
  const place = Math.min(1, Math.max(0, at)) * (path.length - 1);
  const before = Math.min(Math.floor(place), Math.max(0, path.length - 2));
  const share = place - before;
  const from = path[before]!;
  const to = path[Math.min(before + 1, path.length - 1)]!;
  for (let i = 0; i < out.length; i++) out[i] = from[i]! + share * (to[i]! - from[i]!);
  return out;
}

/** Smallest box around states: [minX, minY, minZ, maxX, maxY, maxZ]. */
export function boundsOf(states: readonly Positions[]): [number, number, number, number, number, number] {
  const box: [number, number, number, number, number, number] = [
    ...([Infinity, Infinity, Infinity] as const),
    ...([-Infinity, -Infinity, -Infinity] as const),
  ];
  for (const state of states) {
    for (let i = 0; i < state.length; i++) {
      const axis = i % 3;
      const value = state[i]!;
      if (value < box[axis]!) box[axis] = value;
      if (value > box[axis + 3]!) box[axis + 3] = value;
    }
  }
  return box[0] <= box[3] ? box : [0, 0, 0, 1, 1, 1];
}
