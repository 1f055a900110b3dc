import { IntersticeError } from '../../contract/errors.js';
import type { MeshInput, PartInput, Positions, RestLengthsInput, StrainLimitsInput } from '../../contract/mesh.js';
import type { KinematicPairs, ParametersInput } from '../../contract/parameters.js';
import type { IncludeInput, OnBudget, Priority } from '../../contract/requests.js';
import { readBulk } from './bulk.js';
import { enumShape, type FieldShape, messageShape } from './schema.js';
import { durationToSeconds, type WireMessage } from './wire-message.js';

/**
 * Converts fields of request messages, which may come from JSON or from protobuf: null is unset, and empty bytes are
 * absent.
 */

type Wire = WireMessage | null | undefined;

/** Paths of fields in error messages. @param path of their message; empty for the one that was sent */
export const fieldsOf =
  (path: string) =>
  (name: string): string =>
    path === '' ? name : `${path}.${name}`;

/** @throws MALFORMED_BODY if the value is unset */
export function required(value: unknown, name: string): WireMessage {
  if (value === undefined || value === null) {
    throw new IntersticeError('MALFORMED_BODY', `${name} is missing.`, { hint: `Set ${name}; see /docs.` });
  }
  return value as WireMessage;
}

/** @throws MALFORMED_BODY if the mesh is unset */
export function toMesh(value: unknown, path: string): MeshInput {
  const mesh = required(value, path);
  const uints = (name: string) => {
    const bytes = bytesOf(mesh[name]);
    return bytes ? { [name]: readBulk(bytes, 'uint32', `${path}.${name}`) } : {};
  };
  const masses = toMasses(mesh.masses, `${path}.masses`);
  const kinematic = toFlags(mesh.kinematic, `${path}.kinematic`);
  const parts = (mesh.parts ?? []) as readonly WireMessage[];
  return {
    vertexCount: number(mesh.vertexCount) ?? 0,
    ...uints('triangles'),
    ...uints('segments'),
    ...uints('particles'),
    ...uints('tetrahedra'),
    ...(masses ? { masses } : {}),
    ...(kinematic ? { kinematic } : {}),
    ...(parts.length > 0 ? { parts: parts.map(toPart) } : {}),
    ...uints('ignoredPartPairs'),
    ...(mesh.strainLimits
      ? { strainLimits: toStrainLimits(mesh.strainLimits as WireMessage, `${path}.strainLimits`) }
      : {}),
    ...(mesh.restLengths ? { restLengths: toRestLengths(mesh.restLengths as WireMessage, `${path}.restLengths`) } : {}),
  };
}

function toRestLengths(rest: WireMessage, path: string): RestLengthsInput {
  const [edges, lengths] = [bytesOf(rest.edges), bytesOf(rest.lengths)];
  return {
    ...(rest.positions ? { positions: toPositions(rest.positions as WireMessage, `${path}.positions`) } : {}),
    ...(edges ? { edges: readBulk(edges, 'uint32', `${path}.edges`) } : {}),
    ...(lengths ? { lengths: readBulk(lengths, 'float32', `${path}.lengths`) } : {}),
  };
}

function toStrainLimits(limits: WireMessage, path: string): StrainLimitsInput {
  const min = number(limits.min);
  const max = number(limits.max);
  return {
    rest: toRequiredPositions(limits.rest, `${path}.rest`),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

function toPart(part: WireMessage): PartInput {
  const activationDistance = number(part.activationDistance);
  const contactOffset = number(part.contactOffset);
  const strainMin = number(part.strainMin);
  const strainMax = number(part.strainMax);
  return {
    name: (part.name as string | undefined) ?? '',
    firstVertex: number(part.firstVertex) ?? 0,
    vertexCount: number(part.vertexCount) ?? 0,
    ...(part.kinematic === true ? { kinematic: true } : {}),
    ...(activationDistance === undefined ? {} : { activationDistance }),
    ...(contactOffset === undefined ? {} : { contactOffset }),
    ...(strainMin === undefined ? {} : { strainMin }),
    ...(strainMax === undefined ? {} : { strainMax }),
  };
}

/** float32[V]; undefined if unset. */
export function toMasses(value: unknown, path: string): Float32Array | undefined {
  const bytes = bytesOf(value);
  return bytes ? readBulk(bytes, 'float32', path) : undefined;
}

/** uint8[V]; undefined if unset. */
export function toFlags(value: unknown, path: string): Uint8Array | undefined {
  const bytes = bytesOf(value);
  return bytes ? readBulk(bytes, 'uint8', path) : undefined;
}

export function toPositions(positions: WireMessage, name: string): Positions {
  const scalar = enumName('Scalar', positions.scalar, `${name}.scalar`);
  const bytes = bytesOf(positions.data) ?? new Uint8Array(0);
  return readBulk(bytes, scalar === 'FLOAT64' ? 'float64' : 'float32', `${name}.data`);
}

/** @throws MALFORMED_BODY if the positions are unset */
export const toRequiredPositions = (value: unknown, path: string): Positions =>
  toPositions(required(value, path), path);

function bytesOf(value: unknown): Uint8Array | undefined {
  if (!ArrayBuffer.isView(value) || value.byteLength === 0) return undefined;
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
}

export function number(value: unknown): number | undefined {
  return value === undefined || value === null ? undefined : Number(value);
}

/** Name of an enum value; undefined for unset and 0, which both mean the default. @throws INVALID_PARAMETER */
export function enumName(type: string, value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || value === 0) return undefined;
  const shape = enumShape(type);
  const name = typeof value === 'string' && shape.byName.has(value) ? value : shape.byNumber.get(value as number);
  if (name === undefined) {
    const names = [...shape.byName].filter(([, number]) => number !== 0).map(([known]) => known);
    throw new IntersticeError('INVALID_PARAMETER', `${path} is ${String(value)}, expected one of ${names.join(', ')}.`);
  }
  return name;
}

/** The set parameters, with enums by name. Their ranges are checked where presets are applied. */
export function toParameters(value: unknown, path: string): ParametersInput {
  const message = (value ?? {}) as WireMessage;
  const set: Record<string, number | string> = {};
  for (const field of messageShape('Parameters').fields) {
    const entry = parameterValue(field, message[field.jsonName], path);
    if (entry !== undefined) set[field.jsonName] = entry;
  }
  return set as ParametersInput;
}

function parameterValue(field: FieldShape, value: unknown, path: string): number | string | undefined {
  return field.kind.of === 'enum' ? enumName(field.kind.type, value, `${path}.${field.jsonName}`) : number(value);
}

/**
 * @param takesProgress whether the answer is a stream, which alone can send `progress`
 * @throws INVALID_PARAMETER for `progress` without a stream
 */
export function toInclude(value: unknown, path: string, takesProgress = false): IncludeInput | undefined {
  const message = value as Wire;
  if (!message) return undefined;
  if (message.progress === true && !takesProgress) {
    throw new IntersticeError('INVALID_PARAMETER', `${path}.progress is true, but this answer is no stream.`, {
      hint: 'Leave it unset; or accept application/x-ndjson, or call ResolveStream or StepStream.',
    });
  }
  const contactDistance = number(message.contactDistance);
  return {
    contacts: message.contacts === true,
    vertices: message.vertices === true,
    ...(contactDistance === undefined ? {} : { contactDistance }),
    ...(message.path === true ? { path: true } : {}),
    ...(message.reasons === true ? { reasons: true } : {}),
  };
}

/** Whether the answer has to contain more than positions and a report. */
export const asksForData = (include: IncludeInput | undefined): boolean =>
  Boolean(include?.contacts || include?.vertices || include?.path || include?.reasons);

/** Seconds of a duration; undefined if unset. */
export function toSeconds(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return durationToSeconds(value as { seconds: unknown; nanos: number });
}

export function toOnBudget(value: unknown, path: string): OnBudget | undefined {
  return enumName('OnBudget', value, path) as OnBudget | undefined;
}

export function toKinematicPairs(value: unknown, path: string): KinematicPairs | undefined {
  return enumName('KinematicPairs', value, path) as KinematicPairs | undefined;
}

export function toPriority(value: unknown, path: string): Priority | undefined {
  return enumName('Priority', value, path) as Priority | undefined;
}

/** A string; undefined if it is empty, which means unset in proto3. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The session id of a request.
 * @param known id in the path of the request, or in an earlier message of the stream; the message may repeat it
 * @param path of the message, for error messages
 * @throws INVALID_PARAMETER if the message has another id, MALFORMED_BODY if there is none
 */
export const toSessionId = (value: unknown, known?: string, path = ''): string => toId('session', value, known, path);

/** The job id of a request. @param known id in the path of the request @throws as {@link toSessionId} */
export const toJobId = (value: unknown, known?: string): string => toId('job', value, known, '');

function toId(what: 'session' | 'job', value: unknown, known: string | undefined, path: string): string {
  const field = fieldsOf(path)(`${what}Id`);
  const given = text(value);
  if (given !== undefined && known !== undefined && given !== known) {
    throw new IntersticeError('INVALID_PARAMETER', `${field} differs from the ${what} that is called.`, {
      hint: `Leave ${field} unset, or call the ${what} that it names.`,
    });
  }
  const id = given ?? known;
  if (id !== undefined) return id;
  throw new IntersticeError('MALFORMED_BODY', `${field} is missing.`, { hint: `Set ${field}; see /docs.` });
}

/** The object without its undefined members, which mean the same to the operations as absent ones. */
export function withSet<T extends object>(members: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
