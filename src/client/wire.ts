import type {
  CheckAnswer,
  CheckOptions,
  Contacts,
  DiagnoseOptions,
  Diagnosis,
  Mesh,
  Path,
  Positions,
  Reasons,
  Report,
  ServedUntangleReport,
  ServerInfo,
  SessionOptions,
  StepOptions,
  UntangleCallOptions,
  UntangledState,
  VertexReport,
} from './types.js';

/** The contract's JSON: requests are encoded, answers are decoded to plain data. */

/** Typed arrays use the byte order of the host; the wire is little-endian. */
export const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Characters per call of fromCharCode, whose arguments are on the stack. */
const CHUNK = 0x8000;

/** @throws TypeError for a list of numbers, which has no bytes */
export function bytesOf(array: ArrayBufferView): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(array)) throw new TypeError(`A typed array is expected, not ${typeOf(array)}.`);
  return new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
}

export function toBase64(array: ArrayBufferView): string {
  const bytes = bytesOf(array);
  if (typeof Buffer !== 'undefined')
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  let text = '';
  for (let i = 0; i < bytes.length; i += CHUNK) text += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  return btoa(text);
}

/** Bytes in base64, as in JSON; or the bytes themselves, if the caller has read the answer in another form. */
type Base64 = string | Uint8Array;

function fromBase64(text: Base64): ArrayBuffer {
  if (typeof text !== 'string') return new Uint8Array(text).buffer;
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < decoded.length; i++) bytes[i] = decoded.charCodeAt(i);
  return bytes.buffer;
}

/** The name of the type, also of an array from another frame, whose constructors are others. */
const typeOf = (array: object): string => Object.prototype.toString.call(array).slice(8, -1);

/** @throws TypeError for other arrays, whose bits would be read as other numbers */
export function scalarOf(positions: Positions): 'float32' | 'float64' {
  const type = typeOf(positions);
  if (type === 'Float64Array') return 'float64';
  if (type === 'Float32Array') return 'float32';
  throw new TypeError(`Positions are in a Float32Array or a Float64Array, not in ${type}.`);
}

/** @param name for the message @throws TypeError for other arrays, as {@link scalarOf} */
export function floatsToBase64(floats: ArrayBufferView, name: string): string {
  const type = typeOf(floats);
  if (type !== 'Float32Array') throw new TypeError(`${name} are in a Float32Array, not in ${type}.`);
  return toBase64(floats);
}

export const positionsToJson = (positions: Positions | undefined) =>
  positions && { data: toBase64(positions), scalar: scalarOf(positions).toUpperCase() };

export function meshToJson(mesh: Mesh): object {
  const { strainLimits, restLengths, ...arrays } = mesh;
  const limits = strainLimits && { ...strainLimits, rest: positionsToJson(strainLimits.rest) };
  const rest = restLengths && {
    positions: positionsToJson(restLengths.positions),
    edges: restLengths.edges && toBase64(restLengths.edges),
    lengths: restLengths.lengths && floatsToBase64(restLengths.lengths, 'Lengths'),
  };
  const fields = Object.fromEntries(
    Object.entries(arrays).map(([name, value]) => {
      if (!ArrayBuffer.isView(value)) return [name, value];
      return [name, name === 'masses' ? floatsToBase64(value, 'Masses') : toBase64(value)];
    }),
  );
  return { ...fields, strainLimits: limits, restLengths: rest };
}

/** A duration of proto3 JSON: "1.5s". */
export function readDuration(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number.parseFloat(value) : Number.NaN;
  return Number.isFinite(seconds) ? seconds : undefined;
}

export const durationToJson = (seconds: number | undefined) =>
  seconds === undefined ? undefined : `${seconds.toFixed(9)}s`;

/** JSON.stringify omits keys that are undefined. */
export function sessionToJson(
  mesh: Mesh,
  start: Positions,
  options: Pick<SessionOptions, 'parameters' | 'label' | 'idleTimeoutSeconds' | 'untangle'>,
  idempotencyKey: string,
): string {
  const { parameters, label, idleTimeoutSeconds, untangle } = options;
  const idleTimeout = durationToJson(idleTimeoutSeconds);
  const subject = { mesh: meshToJson(mesh), start: positionsToJson(start) };
  return JSON.stringify({ ...subject, parameters, label, idleTimeout, idempotencyKey, untangle });
}

/** The common fields of a step and a resolve. */
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

export function diagnoseToJson(options: DiagnoseOptions, budgetSeconds: number | undefined): object {
  const { target, parameters, maxElements } = options;
  return { target: positionsToJson(target), parameters, maxElements, timeBudget: durationToJson(budgetSeconds) };
}

export function untangleToJson(options: UntangleCallOptions, budgetSeconds: number | undefined): object {
  const { parameters, layers, turned, maxIterations, maxDisplacement, priority } = options;
  const hints = { layers, turned, maxIterations, maxDisplacement };
  return { parameters, options: hints, priority, timeBudget: durationToJson(budgetSeconds) };
}

interface UntangledJson {
  readonly positions: PositionsJson;
  readonly report: Omit<ServedUntangleReport, 'contours'> & {
    readonly contours: readonly (Omit<ServedUntangleReport['contours'][number], 'points'> & {
      readonly points: Base64;
    })[];
  };
  readonly regions: Base64;
}

export function untangledFromJson(answer: unknown): UntangledState {
  const { positions, report, regions } = answer as UntangledJson;
  const contours = report.contours.map((one) => ({ ...one, points: new Float32Array(fromBase64(one.points)) }));
  const piercesByIteration = report.piercesByIteration.map(Number);
  return {
    positions: positionsFromJson(positions),
    report: { ...report, contours, piercesByIteration },
    regions: new Uint32Array(fromBase64(regions)),
  };
}

/** A created session, and how its start was untangled if that was requested. */
export function openedFromJson(answer: unknown): {
  readonly id: string;
  readonly untangled: UntangledState | undefined;
} {
  const { id, untangle } = identifiedFromJson(answer) as { readonly id: string; readonly untangle?: object };
  return { id, untangled: untangle && untangledFromJson(untangle) };
}

/** The uint64 fields of the contract, which are text in JSON: each is a count below 2^53. */
const COUNTS = new Set(
  `
  vertexTriangle edgeEdge vertexEdge vertexVertex activeContacts touchingPairs pairCount regionCount componentCount
  triangleCount samples pierces piercesBefore piercesAfter leftOutPierces leftOutVertices limitedRegions
  overlongEdges violated inverted intersectingPairCount newtonIterations solverIterations volumes remainingPairs
  pairsTested doubtfulPairs intersections ignoredPairCount count index frame deviceBytes bytes intersectionCount
  kinematicIntersectionCount maxBufferBytes maxVertices maxElements maxMessageBytes maxDeviceBytes maxPairsPerRequest
  maxWorkBytes edges triangles segments particles tetrahedra
`
    .trim()
    .split(/\s+/),
);

/** Parses JSON of the service, with counts as numbers. @throws SyntaxError */
export function parseAnswer(text: string): unknown {
  return JSON.parse(text, (key, value) => (COUNTS.has(key) && typeof value === 'string' ? Number(value) : value));
}

/** An answer that needs no conversion. @throws TypeError if it is no object */
export function objectFromJson(answer: unknown): object {
  if (typeof answer !== 'object' || answer === null) throw new TypeError('it is no object');
  return answer;
}

/** @throws TypeError if it does not say whether the state is free */
export function checkedFromJson(answer: unknown): CheckAnswer {
  const checked = objectFromJson(answer) as CheckAnswer;
  if (typeof checked.intersectionFree !== 'boolean') throw new TypeError('it has no intersectionFree');
  return checked;
}

/** @throws TypeError if it does not say whether a resolve would accept the start */
export function diagnosisFromJson(answer: unknown): Diagnosis {
  const diagnosis = objectFromJson(answer) as Diagnosis;
  if (typeof diagnosis.accepted !== 'boolean') throw new TypeError('it has no accepted');
  return diagnosis;
}

/** An answer with an identifier. @throws TypeError if it has none */
export function identifiedFromJson(answer: unknown): { readonly id: string } {
  const { id } = objectFromJson(answer) as { readonly id?: unknown };
  if (typeof id !== 'string' || id === '') throw new TypeError('it has no id');
  return answer as { readonly id: string };
}

interface PositionsJson {
  readonly data: Base64;
  readonly scalar: string;
}

interface MotionJson {
  readonly positions: PositionsJson;
  readonly report: Report;
  readonly contacts?: Record<keyof Contacts, Base64>;
  readonly path?: Record<'phases' | 'steps', Base64> & { readonly positions: PositionsJson };
  readonly reasons?: Record<keyof Reasons, Base64>;
  readonly vertices?: Record<keyof VertexReport, Base64>;
}

/** Positions, report and the included arrays, as typed arrays. */
export function motionFromJson(answer: unknown) {
  const { positions, report, contacts, vertices, path, reasons } = answer as MotionJson;
  return {
    positions: positionsFromJson(positions),
    report,
    ...(contacts ? { contacts: contactsFromJson(contacts) } : {}),
    ...(vertices ? { vertices: verticesFromJson(vertices) } : {}),
    ...(path ? { path: pathFromJson(path) } : {}),
    ...(reasons ? { reasons: reasonsFromJson(reasons) } : {}),
  };
}

/** Decodes an answer to this target. @throws TypeError if its positions have another number or scalar */
export const motionTo = (target: Positions) => (answer: unknown) => {
  const motion = motionFromJson(answer);
  const { length } = motion.positions;
  if (length !== target.length) throw new TypeError(`it has ${length} coordinates, not ${target.length}`);
  if (scalarOf(motion.positions) !== scalarOf(target)) throw new TypeError(`its positions are no ${scalarOf(target)}`);
  if (typeof motion.report !== 'object') throw new TypeError('it has no report');
  return motion;
};

function positionsFromJson({ data, scalar }: PositionsJson): Positions {
  const bytes = fromBase64(data);
  return scalar === 'FLOAT64' ? new Float64Array(bytes) : new Float32Array(bytes);
}

const pathFromJson = ({ phases, steps, positions }: NonNullable<MotionJson['path']>): Path => ({
  phases: new Uint8Array(fromBase64(phases)),
  steps: new Uint32Array(fromBase64(steps)),
  positions: positionsFromJson(positions),
});

const reasonsFromJson = (reasons: Record<keyof Reasons, Base64>): Reasons => ({
  holds: new Uint8Array(fromBase64(reasons.holds)),
  pairs: new Uint32Array(fromBase64(reasons.pairs)),
  since: new Uint32Array(fromBase64(reasons.since)),
  kinds: new Uint8Array(fromBase64(reasons.kinds)),
  vertices: new Uint32Array(fromBase64(reasons.vertices)),
  normals: new Float32Array(fromBase64(reasons.normals)),
  distances: new Float32Array(fromBase64(reasons.distances)),
});

const contactsFromJson = ({ multipliers, ...contacts }: Record<keyof Contacts, Base64>): Contacts => ({
  kinds: new Uint8Array(fromBase64(contacts.kinds)),
  vertices: new Uint32Array(fromBase64(contacts.vertices)),
  weights: new Float32Array(fromBase64(contacts.weights)),
  normals: new Float32Array(fromBase64(contacts.normals)),
  distances: new Float32Array(fromBase64(contacts.distances)),
  ...(multipliers?.length ? { multipliers: new Float32Array(fromBase64(multipliers)) } : {}),
});

const verticesFromJson = (vertices: Record<keyof VertexReport, Base64>): VertexReport => ({
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
