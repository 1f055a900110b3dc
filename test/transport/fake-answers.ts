import type { Diagnosis } from '../../src/contract/diagnosis.js';
import type { JobInfo } from '../../src/contract/long-jobs.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { Report } from '../../src/contract/report.js';
import type { CheckAnswer } from '../../src/contract/requests.js';
import type { ServerInfo } from '../../src/contract/server-info.js';
import type { SessionInfo } from '../../src/contract/sessions.js';
import { NO_REGION, type UntangledState } from '../../src/contract/untangle-answer.js';
import { sampleParameters } from '../support/sample-parameters.js';

/** A complete report with values that are easy to recognise. */
export function fakeReport(): Report {
  return {
    status: 'CONVERGED',
    steps: 7,
    searches: 2,
    proximitySetReused: false,
    residual: 0.00005,
    unfinishedVertices: 0,
    unreachedKinematic: 0,
    deflectedVertices: 3,
    distanceToTargetMax: 0.5,
    distanceToTargetRms: 0.25,
    kinematicDistanceMax: 0.125,
    overlongEdges: 1,
    worstEdge: { a: 3, b: 4, stretch: 1.25 },
    pullBack: {
      steps: 5,
      before: { distanceToTargetRms: 0.375, distanceToTargetMax: 0.75, overlongEdges: 2 },
      after: { distanceToTargetRms: 0.25, distanceToTargetMax: 0.5, overlongEdges: 1 },
    },
    maxStretch: 1.05,
    minDistance: 0.01,
    pairs: { vertexTriangle: 10, edgeEdge: 20, vertexEdge: 0, vertexVertex: 0, activeContacts: 4, colours: 5 },
    touchingPairs: 2,
    ignoredPairCount: 0,
    ignoredPairs: [],
    intersectingPairCount: 0,
    intersectingPairs: [],
    limitingPairs: [{ kind: 'VERTEX_TRIANGLE', a: [0], b: [1, 2, 3], distance: 0.01 }],
    limitingEdges: [{ a: 1, b: 2, stretch: 1.0625 }],
    verification: { performed: 'STATE', pairsTested: 100, doubtfulPairs: 1, intersections: 0, fellBack: false },
    timings: {
      queue: 10,
      decode: 0,
      upload: 0,
      search: 100,
      geometry: 20,
      backward: 30,
      forward: 40,
      verify: 50,
      readback: 0,
      encode: 0,
      total: 250,
    },
    resolved: sampleParameters,
    warnings: [{ code: 'UNUSED_VERTICES', message: 'One vertex is in no element.', count: 1 }],
    sessionRebuilt: false,
    engine: 'cpu',
    version: '1',
  };
}

export function fakeCheckAnswer(): CheckAnswer {
  return {
    intersectionFree: false,
    intersectionCount: 1,
    intersections: [{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4] }],
    kinematicIntersectionCount: 0,
    closePairs: [],
  };
}

export function fakeInfo(): ServerInfo {
  return {
    version: '0.1.0',
    algorithmVersion: '1',
    engines: [{ name: 'cpu', adapter: '', software: true, maxBufferBytes: 0 }],
    limits: {
      maxVertices: 1000,
      maxElements: 2000,
      maxMessageBytes: 65536,
      maxSessions: 0,
      maxDeviceBytes: 0,
      maxQueue: 4,
      maxTimeBudgetSeconds: 1.5,
      defaultTimeBudgetSeconds: 0.5,
      maxPairsPerRequest: 1_000_000,
      maxWorkBytes: 2 ** 33,
    },
    defaults: { preset: 'TUNED', damping: 0.9 },
    features: ['resolve', 'check'],
  };
}

export function fakeSession(): SessionInfo {
  return {
    id: '0123456789abcdef0123456789abcdef',
    frame: 0n,
    resolved: fakeReport().resolved,
    mesh: {
      vertices: 6,
      edges: 6,
      triangles: 2,
      segments: 0,
      particles: 0,
      tetrahedra: 0,
      components: 2,
      medianEdge: 1,
      minHeight: 0.7,
      bounds: [0, 0, 0, 1.2, 1.2, 0.5],
      contentHash: 'abc',
    },
    warnings: [],
    label: 'cape',
    created: Date.UTC(2026, 10, 21, 9, 0, 0, 250),
    lastUsed: Date.UTC(2026, 10, 21, 9, 0, 1),
    idleTimeoutSeconds: 900,
    residency: 'RESIDENT',
    deviceBytes: 4096,
  };
}

export function fakeDiagnosis(): Diagnosis {
  return {
    accepted: false,
    findings: [
      {
        code: 'INTERSECTION',
        severity: 'PROBLEM',
        count: 1,
        measure: 0.25,
        unit: 'length',
        elements: [{ kind: 'pair', index: 0, vertices: [0, 1, 2, 3, 4] }],
        message: '1 pair of elements intersects.',
        advice: 'Untangle it.',
      },
    ],
    regions: [
      {
        pairCount: 1,
        pairs: [{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4] }],
        size: 0.5,
        depth: 0.25,
        centre: [1, 2, 3],
        contour: 'BORDER',
        names: ['component 1'],
      },
    ],
    regionCount: 1,
    components: [{ name: 'component 1', firstVertex: 0, vertexCount: 5, triangleCount: 1, closed: false, size: 1.5 }],
    componentCount: 1,
    layers: [{ inner: 'body', outer: 'dress', confidence: 0.75, samples: 12 }],
    metresPerUnit: 0.01,
    medianEdge: 1,
    activationDistance: 0.1,
    leap: 2,
    smallestTimeBudgetSeconds: 0.125,
  };
}

export function fakeJob(): JobInfo {
  return {
    id: 'fedcba9876543210fedcba9876543210',
    state: 'JOB_RUNNING',
    label: 'cape',
    created: Date.UTC(2026, 10, 21, 9, 0, 0, 250),
    started: Date.UTC(2026, 10, 21, 9, 0, 1),
    progress: { steps: 7, residual: 0.5, unfinishedVertices: 3 },
    bytes: 4096,
  };
}

/** An untangling with values that are easy to recognise. */
export function fakeUntangled(positions: Positions): UntangledState {
  const displacement = { vertices: 3, mean: 0.25, max: 0.5 };
  return {
    positions,
    regions: new Uint32Array(positions.length / 3).fill(NO_REGION).fill(0, 0, 1),
    report: {
      status: 'PARTIAL',
      piercesBefore: 5,
      piercesAfter: 1,
      piercesByIteration: [5, 3, 1],
      contours: [
        {
          id: 0,
          kind: 'CLOSED',
          pierces: 5,
          sheets: [
            { part: 'lower', wrongVertices: 0, side: 'ALONG_NORMALS' },
            { part: 'upper', wrongVertices: 3 },
          ],
          why: 'SMALLER',
          confidence: 0.75,
          isTurned: false,
          points: Float32Array.of(0.5, 0, 0.25),
        },
      ],
      regions: displacement,
      outside: { ...displacement, vertices: 0 },
      maxStretch: 1.5,
      minStretch: 0.5,
      leftOutPierces: 5,
      leftOutVertices: 3,
      limitedRegions: 0,
      pushingEngine: 'cpu',
      ended: 'NO_PROGRESS',
      remaining: [{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [2, 3, 4] }],
      warnings: [],
      engine: 'cpu',
      version: '1',
      seconds: 0.125,
    },
  };
}
