import type { Terminal } from '../../src/cli/terminal.js';
import type { Report } from '../../src/contract/report.js';
import { sampleParameters } from '../support/sample-parameters.js';

export interface RecordedTerminal extends Terminal {
  readonly written: { out: string; err: string };
  /** what `now` answers, milliseconds */
  clock: number;
}

export function recordTerminal(
  settings: { isTerminal?: boolean; columns?: number; env?: Record<string, string>; folder?: string } = {},
): RecordedTerminal {
  const { isTerminal = false, columns = 100, env = {}, folder = '/' } = settings;
  const written = { out: '', err: '' };
  const sink = (name: 'out' | 'err') => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTerminal,
    columns,
  });
  const terminal: RecordedTerminal = {
    out: sink('out'),
    err: sink('err'),
    env,
    folder,
    written,
    clock: 0,
    now: () => terminal.clock,
  };
  return terminal;
}

export function sampleReport(changes: Partial<Report> = {}): Report {
  return {
    status: 'CONVERGED',
    steps: 7,
    searches: 2,
    proximitySetReused: false,
    residual: 0.00005,
    unfinishedVertices: 0,
    unreachedKinematic: 0,
    deflectedVertices: 12,
    distanceToTargetMax: 0.01234567,
    distanceToTargetRms: 0.0004,
    kinematicDistanceMax: 0,
    overlongEdges: 0,
    maxStretch: 1.08,
    minDistance: 0.00061,
    pairs: { vertexTriangle: 3, edgeEdge: 4, vertexEdge: 0, vertexVertex: 0, activeContacts: 2, colours: 3 },
    touchingPairs: 0,
    ignoredPairCount: 0,
    ignoredPairs: [],
    intersectingPairCount: 0,
    intersectingPairs: [],
    limitingPairs: [],
    limitingEdges: [],
    verification: { performed: 'STATE', pairsTested: 12345, doubtfulPairs: 2, intersections: 0, fellBack: false },
    timings: {
      queue: 0,
      decode: 0,
      upload: 0,
      search: 1,
      geometry: 1,
      backward: 1,
      forward: 1,
      verify: 1,
      readback: 0,
      encode: 0,
      total: 612345,
    },
    resolved: sampleParameters,
    warnings: [],
    sessionRebuilt: false,
    engine: 'cpu',
    version: '1',
    ...changes,
  };
}
