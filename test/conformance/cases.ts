import type { ErrorCode } from '../../src/contract/errors.js';

/**
 * What every door must answer alike. Requests and answers are in the JSON mapping of the contract, bulk fields as arrays of
 * numbers; a door that speaks something else translates. `$id` stands for the id of the session that an earlier call
 * of the same case opened.
 */

export type OperationName =
  | 'Resolve'
  | 'Check'
  | 'CreateSession'
  | 'GetSession'
  | 'ListSessions'
  | 'UpdateSession'
  | 'DeleteSession'
  | 'Step'
  | 'GetServerInfo';

/** Message of the contract that each operation takes and answers with. */
export const MESSAGES_OF: Readonly<Record<OperationName, { readonly request: string; readonly answer: string }>> = {
  Resolve: { request: 'ResolveRequest', answer: 'ResolveResponse' },
  Check: { request: 'CheckRequest', answer: 'CheckResponse' },
  CreateSession: { request: 'CreateSessionRequest', answer: 'Session' },
  GetSession: { request: 'GetSessionRequest', answer: 'Session' },
  ListSessions: { request: 'ListSessionsRequest', answer: 'ListSessionsResponse' },
  UpdateSession: { request: 'UpdateSessionRequest', answer: 'Session' },
  DeleteSession: { request: 'DeleteSessionRequest', answer: 'DeleteSessionResponse' },
  Step: { request: 'StepRequest', answer: 'StepResponse' },
  GetServerInfo: { request: 'GetServerInfoRequest', answer: 'ServerInfo' },
};

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
/** pierced: the last vertex hangs below the first triangle */
const PIERCED = START.map((value, i) => (i === 11 ? -0.5 : value));

const float32 = (data: readonly number[]) => ({ data, scalar: 'FLOAT32' });
const float64 = (data: readonly number[]) => ({ data, scalar: 'FLOAT64' });
const open = (over: Json = {}): Call => ({
  operation: 'CreateSession',
  request: { mesh: MESH, start: float32(START), ...over },
  answer: { id: /^.{16,}$/, frame: '0', residency: /RESIDENT|PARKED/, mesh: { vertices: 6, triangles: '2' } },
});

const WITHOUT_SESSIONS: readonly Case[] = [
  {
    name: 'a free way is gone to its end',
    calls: [
      {
        operation: 'Resolve',
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
        operation: 'Resolve',
        request: { mesh: MESH, start: float32(START), target: float64(FREE), priority: 'BATCH', timeBudget: '60s' },
        answer: { positions: float64(FREE) },
      },
    ],
  },
  {
    name: 'what was asked for beside the positions is there',
    calls: [
      {
        operation: 'Resolve',
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
      ['flags of another mesh', { mesh: { ...MESH, kinematic: [1, 0] } }, { code: 'SIZE_MISMATCH' }],
    ] as const
  ).map(
    ([name, over, refusal]): Case => ({
      name: `a resolve is refused: ${name}`,
      calls: [
        {
          operation: 'Resolve',
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
        operation: 'Check',
        request: { mesh: MESH, positions: float32(START), pathEnd: float32(CROSSING) },
        answer: { intersectionFree: true, intersectionCount: '0', pathFree: false },
      },
      {
        operation: 'Check',
        request: { mesh: MESH, positions: float32(PIERCED), maxPairs: 1 },
        answer: { intersectionFree: false, intersections: [{ kind: 'EDGE_TRIANGLE' }] },
      },
      { operation: 'Check', request: {}, refusal: { code: 'MALFORMED_BODY', message: /mesh is missing/ } },
    ],
  },
  {
    name: 'what the server can do',
    calls: [{ operation: 'GetServerInfo', request: {}, answer: { version: /^\d/, limits: { maxVertices: /^\d+$/ } } }],
  },
];

const WITH_SESSIONS: readonly Case[] = [
  {
    name: 'a session from its creation to its end',
    calls: [
      open({ label: 'cape', idleTimeout: '60s', parameters: { activationDistance: 0.01 } }),
      {
        operation: 'Step',
        request: { sessionId: '$id', frame: '1', target: float32(FREE) },
        answer: {
          frame: '1',
          positions: float32(FREE),
          report: { status: 'CONVERGED', resolved: { activationDistance: 0.01 } },
        },
      },
      {
        operation: 'GetSession',
        request: { sessionId: '$id' },
        answer: { id: '$id', frame: '1', label: 'cape', idleTimeout: '60s', lastReport: { status: 'CONVERGED' } },
      },
      {
        operation: 'UpdateSession',
        request: { sessionId: '$id', label: 'cloak', parameters: { stepLimit: 99 } },
        answer: { id: '$id', label: 'cloak', resolved: { stepLimit: 99, activationDistance: 0.01 } },
      },
      {
        operation: 'ListSessions',
        request: { label: 'cloak' },
        answer: { sessions: [{ id: '$id' }], nextPageToken: '' },
      },
      { operation: 'Check', request: { sessionId: '$id' }, answer: { intersectionFree: true } },
      { operation: 'DeleteSession', request: { sessionId: '$id' }, answer: {} },
      { operation: 'DeleteSession', request: { sessionId: '$id' }, refusal: { code: 'SESSION_NOT_FOUND' } },
      { operation: 'GetSession', request: { sessionId: '$id' }, refusal: { code: 'SESSION_NOT_FOUND' } },
    ],
  },
  {
    name: 'frames',
    calls: [
      open(),
      { operation: 'Step', request: { sessionId: '$id', frame: '5', target: float32(FREE) }, answer: { frame: '5' } },
      // The same frame and payload: the stored answer.
      {
        operation: 'Step',
        request: { sessionId: '$id', frame: '5', target: float32(FREE) },
        answer: { frame: '5', positions: float32(FREE) },
      },
      {
        operation: 'Step',
        request: { sessionId: '$id', frame: '5', target: float32(START) },
        refusal: { code: 'FRAME_CONFLICT' },
      },
      {
        operation: 'Step',
        request: { sessionId: '$id', frame: '4', target: float32(START) },
        refusal: { code: 'FRAME_OUT_OF_ORDER' },
      },
      // Beyond what a double holds exactly.
      {
        operation: 'Step',
        request: { sessionId: '$id', frame: '9007199254740993', target: float32(START) },
        answer: { frame: '9007199254740993' },
      },
      {
        operation: 'Step',
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
        operation: 'Step',
        request: { sessionId: '$id', target: float32([1, 2, 3]) },
        refusal: { code: 'SIZE_MISMATCH' },
      },
      {
        operation: 'Step',
        request: { sessionId: '$id', target: float32(FREE), override: { damping: 7 } },
        refusal: { code: 'INVALID_PARAMETER', message: /damping/ },
      },
      {
        operation: 'Step',
        request: { sessionId: '$id', target: float32(FREE), include: { progress: true } },
        refusal: { code: 'INVALID_PARAMETER', message: /progress/ },
      },
      { operation: 'GetSession', request: { sessionId: '$id' }, answer: { frame: '0' } },
    ],
  },
  {
    name: 'sessions that are not there',
    calls: [
      {
        operation: 'Step',
        request: { sessionId: 'f'.repeat(32), target: float32(FREE) },
        refusal: { code: 'SESSION_NOT_FOUND' },
      },
      { operation: 'Check', request: { sessionId: 'f'.repeat(32) }, refusal: { code: 'SESSION_NOT_FOUND' } },
    ],
  },
  {
    name: 'a session does not open on a start that intersects',
    calls: [
      {
        operation: 'CreateSession',
        request: { mesh: MESH, start: float32(PIERCED) },
        refusal: { code: 'INTERSECTING_START' },
      },
    ],
  },
];

export const CASES: readonly Case[] = [...WITHOUT_SESSIONS, ...WITH_SESSIONS];
