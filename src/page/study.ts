import type { CertificateVerdict } from '../../checker/certificate.mjs';
import type { ResolveResult, UntangledState } from '../client/types.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Path } from '../contract/path.js';
import type { CheckAnswer } from '../contract/requests.js';
import type { LayerHint } from '../contract/untangle.js';
import type { MeshFile } from '../mesh/files/types.js';

/** A named state of a study, as opposed to a state between two others. */
export type StateName = 'start' | 'target' | 'answer';

/** The file that a start came from: a saved answer keeps the other content of the file. */
export interface Source {
  readonly file: MeshFile;
  /** the bytes of a .glb file, which is complete; a .gltf file refers to other files */
  readonly glb?: Uint8Array<ArrayBuffer>;
}

/** Everything that the page shows at once: one mesh, its start, its target and the result. */
export interface Study {
  readonly title: string;
  readonly mesh: MeshInput;
  /** [3·V] */
  readonly start: Positions;
  /** [3·V]; undefined if only one file was opened */
  readonly target: Positions | undefined;
  /** States of the path in order, start first; between two of them every vertex moves on a straight line. */
  readonly path: readonly Positions[];
  /** Text for what led to each state of the path; empty without the path of the solver. */
  readonly pathWords: readonly string[];
  readonly answer: ResolveResult | undefined;
  /** Results of the service for states that may intersect. */
  readonly checks: Readonly<Partial<Record<'start' | 'target', CheckAnswer>>>;
  /** Absent if the start did not come from a file that was opened here. */
  readonly source?: Source;
  /** The verdict on the certificate of this study; then the last state of the path is the answer, without a report. */
  readonly certificate?: CertificateVerdict;
  /** How the start was untangled; then the last state of the path is that answer. */
  readonly untangled?: UntangledState;
  /** The hints for the untangling. */
  readonly hints?: Hints;
}

/** Hints that a user may give for untangling. */
export interface Hints {
  readonly layers: readonly LayerHint[];
  /** ids of contours whose other side is the wrong one */
  readonly turned: readonly number[];
}

/** The reference of edge lengths and of their limit, as text. */
export const comparedLength = ({ restLengths }: MeshInput): 'at rest' | 'in the target' =>
  restLengths ? 'at rest' : 'in the target';

/** Whether there is a path for the slider. */
export const hasPath = ({ answer, certificate, untangled }: Study): boolean =>
  answer !== undefined || certificate !== undefined || untangled !== undefined;

/**
 * The study with an untangled start as the answer; the path to it is not tested, so only its end is shown. A certificate
 * is about other states.
 */
export function withUntangled(study: Study, untangled: UntangledState, hints: Hints): Study {
  const { certificate: _, ...rest } = study;
  const path = [study.start, untangled.positions];
  return { ...rest, answer: undefined, untangled, hints, path, pathWords: ['start', 'untangled'], checks: {} };
}

/** A pair without an answer. */
export function studyOfPair(pair: Pick<Study, 'title' | 'mesh' | 'start' | 'target'>): Study {
  return { ...pair, path: [pair.start], pathWords: [], answer: undefined, checks: {} };
}

/** The study with the answer, and its path if the answer has one; otherwise the straight path, which is not tested. */
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
