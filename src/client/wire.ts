import type {
  CheckOptions,
  Contacts,
  Mesh,
  Parameters,
  Positions,
  Report,
  ServerInfo,
  StepOptions,
  VertexReport,
} from './types.js';

/** The contract's JSON: requests are encoded, answers are decoded to plain data. */

/** Typed arrays use the byte order of the host; the wire is little-endian. */
export const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Characters per call of fromCharCode, whose arguments are on the stack. */
const CHUNK = 0x8000;

export const bytesOf = (array: ArrayBufferView): Uint8Array<ArrayBuffer> =>
  new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);

export function toBase64(array: ArrayBufferView): string {
  const bytes = bytesOf(array);
  if (typeof Buffer !== 'undefined')
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  let text = '';
  for (let i = 0; i < bytes.length; i += CHUNK) text += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  return btoa(text);
}

function fromBase64(text: string): ArrayBuffer {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < decoded.length; i++) bytes[i] = decoded.charCodeAt(i);
  return bytes.buffer;
}

export const scalarOf = (positions: Positions): 'float32' | 'float64' =>
  positions instanceof Float64Array ? 'float64' : 'float32';

export const positionsToJson = (positions: Positions | undefined) =>
  positions && { data: toBase64(positions), scalar: scalarOf(positions).toUpperCase() };

export function meshToJson(mesh: Mesh): object {
  const { strainLimits, ...arrays } = mesh;
  const limits = strainLimits && { ...strainLimits, rest: positionsToJson(strainLimits.rest) };
  const fields = Object.fromEntries(
    Object.entries(arrays).map(([name, value]) => [name, ArrayBuffer.isView(value) ? toBase64(value) : value]),
  );
  return limits ? { ...fields, strainLimits: limits } : fields;
}

const durationToJson = (seconds: number | undefined) => (seconds === undefined ? undefined : `${seconds.toFixed(9)}s`);

/** JSON.stringify omits keys that are undefined. */
export function sessionToJson(
  mesh: Mesh,
  start: Positions,
  options: { parameters?: Parameters; label?: string; idleTimeoutSeconds?: number },
  idempotencyKey: string,
): string {
  const { parameters, label, idleTimeoutSeconds } = options;
  const idleTimeout = durationToJson(idleTimeoutSeconds);
  return JSON.stringify({
    ...{ mesh: meshToJson(mesh), start: positionsToJson(start), parameters, label, idleTimeout, idempotencyKey },
  });
}

/** The fields that a step and a resolve have in common. */
export function workToJson(target: Positions, options: StepOptions, budgetSeconds: number | undefined): object {
  const { start, include, onBudget, priority } = options;
  const timeBudget = durationToJson(budgetSeconds);
  return { target: positionsToJson(target), start: positionsToJson(start), include, onBudget, priority, timeBudget };
}

export function checkToJson(options: CheckOptions, budgetSeconds: number | undefined): object {
  const { pathEnd, reportPairsCloserThan, maxPairs, kinematicPairs } = options;
  const timeBudget = durationToJson(budgetSeconds);
  return { pathEnd: positionsToJson(pathEnd), reportPairsCloserThan, maxPairs, kinematicPairs, timeBudget };
}

/** The uint64 fields of the contract, which JSON writes as text: each is a count below 2^53. */
const COUNTS = new Set(
  [
    ...['vertexTriangle', 'edgeEdge', 'vertexEdge', 'vertexVertex', 'activeContacts', 'touchingPairs', 'pairCount'],
    ...['overlongEdges', 'violated', 'inverted'],
    ...['pairsTested', 'doubtfulPairs', 'intersections', 'ignoredPairCount', 'count', 'index', 'frame', 'deviceBytes'],
    ...['intersectionCount', 'kinematicIntersectionCount', 'maxBufferBytes', 'maxVertices', 'maxElements'],
    ...[
      'maxMessageBytes',
      'maxDeviceBytes',
      'maxPairsPerRequest',
      'maxWorkBytes',
      'edges',
      'triangles',
      'segments',
      'particles',
      'tetrahedra',
    ],
  ].values(),
);

/** Parses JSON of the service, with counts as numbers. @throws SyntaxError */
export function parseAnswer(text: string): unknown {
  return JSON.parse(text, (key, value) => (COUNTS.has(key) && typeof value === 'string' ? Number(value) : value));
}

interface MotionJson {
  readonly positions: { readonly data: string; readonly scalar: string };
  readonly report: Report;
  readonly contacts?: Record<keyof Contacts, string>;
  readonly vertices?: Record<keyof VertexReport, string>;
}

/** Positions, report and the included arrays, as typed arrays. */
export function motionFromJson(answer: unknown) {
  const { positions, report, contacts, vertices } = answer as MotionJson;
  const data = fromBase64(positions.data);
  return {
    positions: positions.scalar === 'FLOAT64' ? new Float64Array(data) : new Float32Array(data),
    report,
    ...(contacts ? { contacts: contactsFromJson(contacts) } : {}),
    ...(vertices ? { vertices: verticesFromJson(vertices) } : {}),
  };
}

const contactsFromJson = (contacts: Record<keyof Contacts, string>): Contacts => ({
  kinds: new Uint8Array(fromBase64(contacts.kinds)),
  vertices: new Uint32Array(fromBase64(contacts.vertices)),
  weights: new Float32Array(fromBase64(contacts.weights)),
  normals: new Float32Array(fromBase64(contacts.normals)),
  distances: new Float32Array(fromBase64(contacts.distances)),
});

const verticesFromJson = (vertices: Record<keyof VertexReport, string>): VertexReport => ({
  residual: new Float32Array(fromBase64(vertices.residual)),
  distanceToTarget: new Float32Array(fromBase64(vertices.distanceToTarget)),
  unreachedKinematic: new Uint32Array(fromBase64(vertices.unreachedKinematic)),
});

export function infoFromJson(answer: unknown): ServerInfo {
  const { limits, ...info } = answer as ServerInfo & { limits: { maxTimeBudget: string; defaultTimeBudget?: string } };
  const { maxTimeBudget, defaultTimeBudget, ...others } = limits;
  return {
    ...info,
    limits: {
      ...others,
      maxTimeBudgetSeconds: Number.parseFloat(maxTimeBudget),
      ...(defaultTimeBudget ? { defaultTimeBudgetSeconds: Number.parseFloat(defaultTimeBudget) } : {}),
    },
  };
}
