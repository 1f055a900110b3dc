import type { Positions } from '../contract/mesh.js';
import type { Report } from '../contract/report.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer, ResolveRequest } from '../contract/requests.js';
import { encodeJson } from '../transport/json/encode.js';
import { secondsToDuration } from '../transport/messages/wire-message.js';
import type { Backend } from './backend.js';
import { decodeAnswer } from './remote-decode.js';
import { parseServerUrl, postJson } from './remote-transport.js';

/**
 * A running service as the operations that the commands call.
 *
 * The meshes travel as JSON with base64 arrays: bit for bit both ways, and the answer carries the whole report. (The
 * answer to a multipart upload has room only for the report's numbers, in a header, and none for pairs and warnings.)
 *
 * @throws UsageError for an address that is none
 */
export function createRemote(address: string): Backend {
  const base = parseServerUrl(address);
  return {
    async resolve(request, context) {
      const json = encodeJson('ResolveRequest', resolveMessage(request), { arrays: false });
      const answer = await postJson(new URL('v1/resolve', base), json, context?.signal);
      const decoded = decodeAnswer('ResolveResponse', answer) as { positions: { data: Positions }; report: Report };
      return { positions: decoded.positions.data, report: decoded.report } satisfies ResolveAnswer;
    },
    async check(request, context) {
      const json = encodeJson('CheckRequest', checkMessage(request), { arrays: false });
      const answer = await postJson(new URL('v1/check', base), json, context?.signal);
      return decodeAnswer('CheckResponse', answer) as CheckAnswer;
    },
    close: () => Promise.resolve(),
  };
}

const positionsMessage = (positions: Positions): object => ({
  data: positions,
  scalar: positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
});

function resolveMessage(request: ResolveRequest): object {
  const { mesh, start, target, parameters, include, timeBudgetSeconds, onBudget } = request;
  return {
    mesh,
    start: positionsMessage(start),
    target: positionsMessage(target),
    parameters,
    include,
    timeBudget: timeBudgetSeconds === undefined ? undefined : secondsToDuration(timeBudgetSeconds),
    onBudget,
  };
}

function checkMessage(request: MeshCheckRequest): object {
  const { mesh, positions, pathEnd, reportPairsCloserThan, maxPairs, kinematicPairs } = request;
  return {
    mesh,
    positions: positionsMessage(positions),
    pathEnd: pathEnd === undefined ? undefined : positionsMessage(pathEnd),
    reportPairsCloserThan,
    maxPairs,
    kinematicPairs,
  };
}
