import { IntersticeError } from '../errors.js';
import type { MeshInput, PartInput, Positions } from '../mesh/types.js';
import type { IncludeInput, MeshCheckRequest, OnBudget, ResolveRequest } from '../session/types.js';
import type { KinematicPairs, ParametersInput } from '../solver/types.js';
import { readBulk } from './json/bulk.js';
import { enumShape, type FieldShape, messageShape } from './json/schema.js';
import { durationToSeconds, type WireMessage } from './json/wire.js';

/**
 * Requests of the contract into the operations' own types. The messages may come from JSON or from a protobuf
 * library: null counts as unset, empty bytes as absent, and what is not built yet is refused by its name.
 */

type Wire = WireMessage | null | undefined;

/** @throws MALFORMED_BODY (mesh, start or target missing), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toResolveRequest(message: WireMessage): ResolveRequest {
  refusePriority(message.priority, 'priority');
  const include = toInclude(message.include, 'include');
  const timeBudgetSeconds = toTimeBudget(message.timeBudget);
  const onBudget = toOnBudget(message.onBudget, 'onBudget');
  return {
    mesh: toMesh(required(message.mesh, 'mesh')),
    start: toPositions(required(message.start, 'start'), 'start'),
    target: toPositions(required(message.target, 'target'), 'target'),
    parameters: toParameters(message.parameters, 'parameters'),
    ...(include ? { include } : {}),
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget ? { onBudget } : {}),
  };
}

/** @throws MALFORMED_BODY (mesh or positions missing), SIZE_MISMATCH, INVALID_PARAMETER, UNIMPLEMENTED */
export function toCheckRequest(message: WireMessage): MeshCheckRequest {
  if (typeof message.sessionId === 'string' && message.sessionId !== '') {
    throw new IntersticeError('UNIMPLEMENTED', 'sessionId: sessions are not built yet.', {
      hint: 'Send the mesh and its positions instead.',
    });
  }
  const pathEnd = message.pathEnd as Wire;
  const closerThan = number(message.reportPairsCloserThan);
  const maxPairs = number(message.maxPairs);
  const kinematicPairs = toKinematicPairs(message.kinematicPairs, 'kinematicPairs');
  return {
    mesh: toMesh(required(message.mesh, 'mesh')),
    positions: toPositions(required(message.positions, 'positions'), 'positions'),
    ...(pathEnd ? { pathEnd: toPositions(pathEnd, 'pathEnd') } : {}),
    ...(closerThan === undefined ? {} : { reportPairsCloserThan: closerThan }),
    ...(maxPairs === undefined ? {} : { maxPairs }),
    ...(kinematicPairs ? { kinematicPairs } : {}),
  };
}

function required(value: unknown, name: string): WireMessage {
  if (value === undefined || value === null) {
    throw new IntersticeError('MALFORMED_BODY', `${name} is missing.`, { hint: `Set ${name}; see /docs.` });
  }
  return value as WireMessage;
}

function toMesh(mesh: WireMessage): MeshInput {
  const uints = (name: string) => {
    const bytes = bytesOf(mesh[name]);
    return bytes ? { [name]: readBulk(bytes, 'uint32', `mesh.${name}`) } : {};
  };
  const masses = bytesOf(mesh.masses);
  const kinematic = bytesOf(mesh.kinematic);
  const parts = (mesh.parts ?? []) as readonly WireMessage[];
  return {
    vertexCount: number(mesh.vertexCount) ?? 0,
    ...uints('triangles'),
    ...uints('segments'),
    ...uints('particles'),
    ...uints('tetrahedra'),
    ...(masses ? { masses: readBulk(masses, 'float32', 'mesh.masses') } : {}),
    ...(kinematic ? { kinematic: readBulk(kinematic, 'uint8', 'mesh.kinematic') } : {}),
    ...(parts.length > 0 ? { parts: parts.map(toPart) } : {}),
    ...uints('ignoredPartPairs'),
  };
}

function toPart(part: WireMessage, index: number): PartInput {
  if (number(part.activationDistance) !== undefined) {
    throw new IntersticeError('UNIMPLEMENTED', `mesh.parts[${index}].activation_distance is not built yet.`, {
      hint: 'Leave it unset; parameters.activationDistance holds for all parts.',
      element: { kind: 'part', index, vertices: [] },
    });
  }
  return {
    name: (part.name as string | undefined) ?? '',
    firstVertex: number(part.firstVertex) ?? 0,
    vertexCount: number(part.vertexCount) ?? 0,
    ...(part.kinematic === true ? { kinematic: true } : {}),
  };
}

function toPositions(positions: WireMessage, name: string): Positions {
  const scalar = enumName('Scalar', positions.scalar, `${name}.scalar`);
  const bytes = bytesOf(positions.data) ?? new Uint8Array(0);
  return readBulk(bytes, scalar === 'FLOAT64' ? 'float64' : 'float32', `${name}.data`);
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (!ArrayBuffer.isView(value) || value.byteLength === 0) return undefined;
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
}

function number(value: unknown): number | undefined {
  return value === undefined || value === null ? undefined : Number(value);
}

/** An enum's name; undefined for unset and 0, which both ask for the default. @throws INVALID_PARAMETER */
function enumName(type: string, value: unknown, path: string): string | undefined {
  if (value === undefined || value === null || value === 0) return undefined;
  const shape = enumShape(type);
  const name = typeof value === 'string' && shape.byName.has(value) ? value : shape.byNumber.get(value as number);
  if (name === undefined) {
    const names = [...shape.byName].filter(([, number]) => number !== 0).map(([known]) => known);
    throw new IntersticeError('INVALID_PARAMETER', `${path} is ${String(value)}, expected one of ${names.join(', ')}.`);
  }
  return name;
}

/** Parameters that are set, enums by name. Ranges are checked where the presets are resolved. */
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

/** @throws INVALID_PARAMETER for `progress`, which only a stream can carry */
export function toInclude(value: unknown, path: string): IncludeInput | undefined {
  const message = value as Wire;
  if (!message) return undefined;
  if (message.progress === true) {
    throw new IntersticeError('INVALID_PARAMETER', `${path}.progress is true, but only StepStream sends progress.`, {
      hint: 'Leave include.progress unset.',
    });
  }
  const contactDistance = number(message.contactDistance);
  return {
    contacts: message.contacts === true,
    vertices: message.vertices === true,
    ...(contactDistance === undefined ? {} : { contactDistance }),
  };
}

/** Seconds. */
export function toTimeBudget(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return durationToSeconds(value as { seconds: unknown; nanos: number });
}

export function toOnBudget(value: unknown, path: string): OnBudget | undefined {
  return enumName('OnBudget', value, path) as OnBudget | undefined;
}

export function toKinematicPairs(value: unknown, path: string): KinematicPairs | undefined {
  return enumName('KinematicPairs', value, path) as KinematicPairs | undefined;
}

/** There is one queue so far: asking for another place in it is refused rather than passed over. */
export function refusePriority(value: unknown, path: string): void {
  const name = enumName('Priority', value, path);
  if (name === undefined || name === 'NORMAL') return;
  throw new IntersticeError('UNIMPLEMENTED', `${path} ${name} is not built yet; there is one queue.`, {
    hint: `Leave ${path} unset, or NORMAL.`,
  });
}
