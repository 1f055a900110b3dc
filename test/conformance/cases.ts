import { type Case, CROSSING, FREE, float32, float64, halves, MESH, PIERCED, SHRUNK, START } from './case.js';
import { WITH_JOBS } from './job-cases.js';
import { WITH_SESSIONS } from './session-cases.js';

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
          include: { contacts: true, vertices: true, contactDistance: 2, reasons: true },
        },
        answer: {
          report: { resolved: { activationDistance: 0.01, stepLimit: 20 } },
          contacts: { kinds: Array, vertices: Array },
          vertices: { residual: Array, distanceToTarget: Array, unreachedKinematic: [] },
          reasons: {
            holds: Array,
            pairs: Array,
            since: Array,
            kinds: Array,
            vertices: Array,
            normals: Array,
            distances: Array,
          },
        },
      },
    ],
  },
  {
    name: 'the path leads from the start to the answer',
    calls: [
      {
        operation: 'resolve',
        request: { mesh: MESH, start: float32(START), target: float32(FREE), include: { path: true } },
        answer: { path: { phases: Array, steps: Array, positions: { scalar: 'FLOAT32', data: Array } } },
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
    name: 'a diagnosis of a mesh that is well, of one that is refused, and of none',
    calls: [
      {
        operation: 'diagnose',
        request: { mesh: MESH, positions: float32(START), target: float32(START) },
        answer: { accepted: true, regionCount: '0', smallestTimeBudgetSeconds: /./ },
      },
      {
        operation: 'diagnose',
        request: { mesh: MESH, positions: float32(PIERCED), maxElements: 1 },
        answer: { accepted: false, regionCount: '1', regions: [{ contour: /./ }] },
      },
      { operation: 'diagnose', request: { mesh: MESH }, refusal: { code: 'MALFORMED_BODY', message: /positions/ } },
      {
        operation: 'diagnose',
        request: { mesh: MESH, positions: float32(START), maxElements: 4000000000 },
        refusal: { code: 'INVALID_PARAMETER', message: /maxElements/ },
      },
    ],
  },
  {
    name: 'an untangling of a start that intersects, of one that does not, and of hints that name nothing',
    calls: [
      {
        operation: 'untangle',
        request: { mesh: MESH, positions: float32(PIERCED) },
        answer: {
          positions: { scalar: 'FLOAT32', data: Array },
          regions: Array,
          report: {
            piercesBefore: /^[1-9]/,
            piercesByIteration: [/^[1-9]/],
            contours: [{ id: 0, sheets: [{}, {}], points: Array }],
            leftOutPierces: /^\d+$/,
          },
        },
      },
      {
        operation: 'untangle',
        request: { mesh: MESH, positions: float32(START), options: { maxIterations: 3 } },
        answer: { positions: float32(START), report: { status: 'FREE', piercesBefore: '0', contours: [] } },
      },
      { operation: 'untangle', request: { mesh: MESH }, refusal: { code: 'MALFORMED_BODY', message: /positions/ } },
      {
        operation: 'untangle',
        request: {
          mesh: { ...MESH, parts: halves({}) },
          positions: float32(PIERCED),
          options: { layers: [{ inner: 'no such part', outer: 'neither' }] },
        },
        refusal: { code: 'INVALID_PARAMETER', message: /no such part/ },
      },
      {
        operation: 'untangle',
        request: { mesh: MESH, positions: float32(PIERCED), options: { turned: [99] } },
        refusal: { code: 'INVALID_PARAMETER', message: /99/ },
      },
    ],
  },
  {
    name: 'what the server can do',
    calls: [{ operation: 'info', request: {}, answer: { version: /^\d/, limits: { maxVertices: /^\d+$/ } } }],
  },
];

export const CASES: readonly Case[] = [...WITHOUT_SESSIONS, ...WITH_SESSIONS, ...WITH_JOBS];
