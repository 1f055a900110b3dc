import type { ErrorCode } from '../../src/contract/errors.js';
import type { OperationName } from '../../src/contract/operations.js';

/**
 * Calls that every transport must answer alike. Requests and answers are in the JSON mapping of the contract, with bulk fields
 * as arrays of numbers; a transport with another encoding converts them. `$id` stands for the id of the session that an
 * earlier call of the same case created.
 */

export interface Json {
  readonly [name: string]: unknown;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: RegExp;
  readonly element?: Json;
  readonly pairs?: readonly Json[];
}

export interface Call {
  readonly operation: OperationName;
  readonly request: Json;
  /** part of the answer, as tap's `match` compares: regular expressions and constructors stand for what fits them */
  readonly answer?: Json;
  readonly refusal?: Refusal;
}

export interface Case {
  readonly name: string;
  readonly calls: readonly Call[];
}

const MESH = { vertexCount: 6, triangles: [0, 1, 2, 3, 4, 5] };
const START = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 0.5, 1.25, 0.25, 0.5, 0.25, 1.25, 0.5];
const raisedBy = (height: number) => START.map((value, i) => (i >= 9 && i % 3 === 2 ? value + height : value));
/** nothing in the way */
const FREE = raisedBy(0.25);
/** the second triangle is asked to pass through the first */
const CROSSING = raisedBy(-1);
/** the second triangle, a tenth as large, below the first: one step does not bring it there */
const SHRUNK = START.map((value, i) => (i < 9 ? value : i % 3 === 2 ? -0.5 : 0.3 + 0.1 * (value - 0.25)));
/** pierced: the last vertex hangs below the first triangle */
const PIERCED = START.map((value, i) => (i === 11 ? -0.5 : value));

/** The two triangles as parts. @param lower of the first one */
const halves = (lower: Json) => [
  { name: 'lower', firstVertex: 0, vertexCount: 3, ...lower },
  { name: 'upper', firstVertex: 3, vertexCount: 3 },
];

const float32 = (data: readonly number[]) => ({ data, scalar: 'FLOAT32' });
const float64 = (data: readonly number[]) => ({ data, scalar: 'FLOAT64' });
const open = (over: Json = {}): Call => ({
  operation: 'createSession',
  request: { mesh: MESH, start: float32(START), ...over },
  answer: { id: /^.{16,}$/, frame: '0', residency: /RESIDENT|PARKED/, mesh: { vertices: 6, triangles: '2' } },
});

const WITHOUT_SESSIONS: readonly Case[] = [
  {
    name: 'a free way is gone to its end',
    calls: [
      {
        operation: 'resolve',
        request: { mesh: MESH, start: float32(START), target: float32(FREE) },
        answer: {
          positions: float32(FREE),
          report: {
            status: 'CONVERGED',
            verification: { performed: 'STATE', intersections: '0' },
            resolved: { preset: 'TUNED' },
          },
        },
      },
    ],
  },
  {
    name: 'an answer has the scalar of its target',
    calls: [
      {
        operation: 'resolve',
        request: { mesh: MESH, start: float32(START), target: float64(FREE), priority: 'BATCH', timeBudget: '60s' },
        answer: { positions: float64(FREE) },
      },
    ],
  },
  {
    name: 'what was asked for beside the positions is there',
    calls: [
      {
        operation: 'resolve',
        request: {
          mesh: MESH,
          start: float32(START),
          target: float32(CROSSING),
          parameters: { activationDistance: 0.01, stepLimit: 20 },
          include: { contacts: true, vertices: true, contactDistance: 2 },
        },
        answer: {
          report: { resolved: { activationDistance: 0.01, stepLimit: 20 } },
          contacts: { kinds: Array, vertices: Array },
          vertices: { residual: Array, distanceToTarget: Array, unreachedKinematic: [] },
        },
      },
    ],
  },
  {
    name: 'the report says how near the answer is, and what the pull-back has gained',
    calls: [
      {
        operation: 'resolve',
        request: {
          mesh: { ...MESH, parts: halves({ contactOffset: 0.01 }) },
          start: float32(START),
          target: float32(CROSSING),
          parameters: { activationDistance: 0.1, quality: 'BALANCED', contactOffset: 0.05 },
        },
        answer: {
          report: {
            distanceToTargetRms: Number,
            distanceToTargetMax: Number,
            kinematicDistanceMax: 0,
            overlongEdges: '0',
            pullBack: {
              steps: Number,
              before: { distanceToTargetRms: Number, distanceToTargetMax: 1, overlongEdges: '0' },
              after: { distanceToTargetRms: Number, distanceToTargetMax: Number, overlongEdges: '0' },
            },
            resolved: { quality: 'BALANCED', contactOffset: 0.05 },
          },
        },
      },
    ],
  },
  {
    name: 'edges over the limit are counted, the worst is named and a warning tells of them',
    calls: [
      {
        operation: 'resolve',
        request: {
          mesh: { ...MESH, kinematic: [1, 1, 1, 0, 0, 0] },
          start: float32(START),
          target: float32(SHRUNK),
          parameters: { stepLimit: 1 },
        },
        answer: {
          report: {
            status: 'STEP_LIMIT',
            overlongEdges: '3',
            worstEdge: { a: Number, b: Number, stretch: Number },
            warnings: [{ code: 'OVERLONG_EDGES', element: { kind: 'edge' }, count: '3' }],
          },
        },
      },
    ],
  },
  ...(
    [
      [
        'a start that intersects',
        { start: float32(PIERCED) },
        { code: 'INTERSECTING_START', pairs: [{ kind: 'EDGE_TRIANGLE' }] },
      ],
      [
        'a vertex that is not there',
        { mesh: { vertexCount: 6, triangles: [0, 1, 6] } },
        { code: 'INDEX_OUT_OF_RANGE', element: { kind: 'triangle', index: '0' } },
      ],
      ['positions of another mesh', { target: float32([1, 2, 3]) }, { code: 'SIZE_MISMATCH' }],
      ['no mesh', { mesh: undefined }, { code: 'MALFORMED_BODY', message: /^mesh is missing/ }],
      ['no target', { target: undefined }, { code: 'MALFORMED_BODY', message: /^target is missing/ }],
      [
        'a parameter out of its range',
        { parameters: { damping: 2 } },
        { code: 'INVALID_PARAMETER', message: /damping/ },
      ],
      [
        'progress without a stream',
        { include: { progress: true } },
        { code: 'INVALID_PARAMETER', message: /include\.progress/ },
      ],
      ['no verification where the server wants it', { parameters: { verify: 'NONE' } }, { code: 'PERMISSION_DENIED' }],
      [
        'an offset beyond the activation distance of its part',
        { mesh: { ...MESH, parts: halves({ activationDistance: 0.1, contactOffset: 0.2 }) } },
        { code: 'INVALID_PARAMETER', message: /mesh\.parts\[0\]\.contactOffset is 0\.2/, element: { kind: 'part' } },
      ],
      ['flags of another mesh', { mesh: { ...MESH, kinematic: [1, 0] } }, { code: 'SIZE_MISMATCH' }],
    ] as const
  ).map(
    ([name, over, refusal]): Case => ({
      name: `a resolve is refused: ${name}`,
      calls: [
        {
          operation: 'resolve',
          request: { mesh: MESH, start: float32(START), target: float32(FREE), ...over },
          refusal,
        },
      ],
    }),
  ),
  {
    name: 'a check of a state and of the way to another',
    calls: [
      {
        operation: 'check',
        request: { mesh: MESH, positions: float32(START), pathEnd: float32(CROSSING) },
        answer: { intersectionFree: true, intersectionCount: '0', pathFree: false },
      },
      {
        operation: 'check',
        request: { mesh: MESH, positions: float32(PIERCED), maxPairs: 1 },
        answer: { intersectionFree: false, intersections: [{ kind: 'EDGE_TRIANGLE' }] },
      },
      { operation: 'check', request: {}, refusal: { code: 'MALFORMED_BODY', message: /mesh is missing/ } },
    ],
  },
  {
    name: 'what the server can do',
    calls: [{ operation: 'info', request: {}, answer: { version: /^\d/, limits: { maxVertices: /^\d+$/ } } }],
  },
];

const WITH_SESSIONS: readonly Case[] = [
  {
    name: 'a session from its creation to its end',
    calls: [
      open({ label: 'cape', idleTimeout: '60s', parameters: { activationDistance: 0.01 } }),
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '1', target: float32(FREE) },
        answer: {
          frame: '1',
          positions: float32(FREE),
          report: { status: 'CONVERGED', resolved: { activationDistance: 0.01 } },
        },
      },
      {
        operation: 'getSession',
        request: { sessionId: '$id' },
        answer: { id: '$id', frame: '1', label: 'cape', idleTimeout: '60s', lastReport: { status: 'CONVERGED' } },
      },
      {
        operation: 'updateSession',
        request: { sessionId: '$id', label: 'cloak', parameters: { stepLimit: 99 } },
        answer: { id: '$id', label: 'cloak', resolved: { stepLimit: 99, activationDistance: 0.01 } },
      },
      {
        operation: 'listSessions',
        request: { label: 'cloak' },
        answer: { sessions: [{ id: '$id' }], nextPageToken: '' },
      },
      { operation: 'check', request: { sessionId: '$id' }, answer: { intersectionFree: true } },
      { operation: 'deleteSession', request: { sessionId: '$id' }, answer: {} },
      { operation: 'deleteSession', request: { sessionId: '$id' }, refusal: { code: 'SESSION_NOT_FOUND' } },
      { operation: 'getSession', request: { sessionId: '$id' }, refusal: { code: 'SESSION_NOT_FOUND' } },
    ],
  },
  {
    name: 'frames',
    calls: [
      open(),
      { operation: 'step', request: { sessionId: '$id', frame: '5', target: float32(FREE) }, answer: { frame: '5' } },
      // The same frame and payload: the stored answer.
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '5', target: float32(FREE) },
        answer: { frame: '5', positions: float32(FREE) },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '5', target: float32(START) },
        refusal: { code: 'FRAME_CONFLICT' },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '4', target: float32(START) },
        refusal: { code: 'FRAME_OUT_OF_ORDER' },
      },
      // Beyond what a double holds exactly.
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '9007199254740993', target: float32(START) },
        answer: { frame: '9007199254740993' },
      },
      {
        operation: 'step',
        request: { sessionId: '$id' },
        answer: { frame: '9007199254740994', positions: float32(START) },
      },
    ],
  },
  {
    name: 'steps that are refused change nothing',
    calls: [
      open(),
      {
        operation: 'step',
        request: { sessionId: '$id', target: float32([1, 2, 3]) },
        refusal: { code: 'SIZE_MISMATCH' },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', target: float32(FREE), override: { damping: 7 } },
        refusal: { code: 'INVALID_PARAMETER', message: /damping/ },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', target: float32(FREE), include: { progress: true } },
        refusal: { code: 'INVALID_PARAMETER', message: /progress/ },
      },
      { operation: 'getSession', request: { sessionId: '$id' }, answer: { frame: '0' } },
    ],
  },
  {
    name: 'sessions that are not there',
    calls: [
      {
        operation: 'step',
        request: { sessionId: 'f'.repeat(32), target: float32(FREE) },
        refusal: { code: 'SESSION_NOT_FOUND' },
      },
      { operation: 'check', request: { sessionId: 'f'.repeat(32) }, refusal: { code: 'SESSION_NOT_FOUND' } },
    ],
  },
  {
    name: 'a session does not open on a start that intersects',
    calls: [
      {
        operation: 'createSession',
        request: { mesh: MESH, start: float32(PIERCED) },
        refusal: { code: 'INTERSECTING_START' },
      },
    ],
  },
];

export const CASES: readonly Case[] = [...WITHOUT_SESSIONS, ...WITH_SESSIONS];
