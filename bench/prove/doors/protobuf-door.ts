import { join } from 'node:path';
import protobuf from 'protobufjs';
import type { MeshInput, Positions } from '../../../src/contract/mesh.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { projectRoot } from '../../../src/paths.js';
import {
  BUDGET_SECONDS,
  bytesOf,
  type CallOptions,
  type Door,
  type Opened,
  type Refusal,
  type Reply,
  type StepTerms,
  toPositions,
  type Untangled,
  type UntangleTerms,
  type WireReport,
  type WireUntangleReport,
} from './door.js';

export type Method = 'Resolve' | 'CreateSession' | 'Step' | 'DeleteSession' | 'Check' | 'Untangle';
/** The result of a call: a message, or the contract's Error. */
export type Returned = { readonly bytes: Uint8Array } | { readonly error: Plain };

/** The transport of messages. */
export interface Carrier {
  /** @param session the session that a step or a deletion is for */
  call(method: Method, message: Uint8Array, options: CallOptions, session?: string): Promise<Returned>;
  /** one step with a whole target, by the shortest path that the carrier has */
  stepFast(session: string, message: Uint8Array): Promise<Returned>;
  close(): void;
}

const timeBudget = { seconds: BUDGET_SECONDS };

/** The contract's messages, over any carrier. */
export class ProtobufDoor implements Door {
  constructor(private readonly carrier: Carrier) {}

  async resolve(
    mesh: MeshInput,
    start: Positions,
    target: Positions,
    parameters: ParametersInput,
    options: CallOptions = {},
  ): Promise<Reply> {
    const message = { mesh: meshOf(mesh), start: wrap(start), target: wrap(target), parameters, timeBudget };
    const returned = await this.carrier.call('Resolve', encode('ResolveRequest', message), options);
    return replyOf(returned, 'ResolveResponse', target);
  }

  async untangle(
    mesh: MeshInput,
    positions: Positions,
    parameters: ParametersInput,
    { budgetSeconds = BUDGET_SECONDS, ...own }: UntangleTerms,
    options: CallOptions = {},
  ): Promise<Untangled | { readonly refusal: Refusal }> {
    const seconds = Math.floor(budgetSeconds);
    const message = {
      ...{ mesh: meshOf(mesh), positions: wrap(positions), parameters, options: own },
      timeBudget: { seconds, nanos: Math.round(1e9 * (budgetSeconds - seconds)) },
    };
    const returned = await this.carrier.call('Untangle', encode('UntangleRequest', message), options);
    if ('error' in returned) return { refusal: refusalOf(returned.error) };
    const answer = decode('UntangleResponse', returned.bytes) as unknown as {
      readonly positions: { readonly data: Uint8Array; readonly scalar: string };
      readonly regions: Uint8Array;
      readonly report: WireUntangleReport;
    };
    return {
      positions: toPositions(answer.positions.data, positions, answer.positions.scalar),
      regions: new Uint32Array(new Uint8Array(answer.regions).buffer),
      report: answer.report,
    };
  }

  async createSession(mesh: MeshInput, start: Positions, parameters: ParametersInput): Promise<Opened> {
    const message = encode('CreateSessionRequest', { mesh: meshOf(mesh), start: wrap(start), parameters });
    const returned = await this.carrier.call('CreateSession', message, {});
    if ('error' in returned) return { refusal: refusalOf(returned.error) };
    return { id: String(decode('Session', returned.bytes).id) };
  }

  async step(
    id: string,
    frame: bigint,
    target: Positions,
    terms: StepTerms = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const returned = await this.carrier.call('Step', stepOf(id, frame, target, terms), options, id);
    return replyOf(returned, 'StepResponse', target);
  }

  async stepFast(id: string, frame: bigint, target: Positions): Promise<Reply> {
    return replyOf(await this.carrier.stepFast(id, stepOf(id, frame, target, {})), 'StepResponse', target);
  }

  async deleteSession(id: string): Promise<void> {
    await this.carrier.call('DeleteSession', encode('DeleteSessionRequest', { sessionId: id }), {}, id);
  }

  async check(mesh: MeshInput, x: Positions, end?: Positions) {
    const message = { mesh: meshOf(mesh), positions: wrap(x), ...(end ? { pathEnd: wrap(end) } : {}) };
    const returned = await this.carrier.call('Check', encode('CheckRequest', message), {});
    if ('error' in returned) throw new Error(`Check was refused: ${JSON.stringify(returned.error)}`);
    const { intersectionCount, pathFree } = decode('CheckResponse', returned.bytes);
    return { count: Number(intersectionCount), pathFree: pathFree as boolean | undefined };
  }

  close(): void {
    this.carrier.close();
  }
}

function stepOf(id: string, frame: bigint, target: Positions, { parts, start, kinematic }: StepTerms): Uint8Array {
  return encode('StepRequest', {
    sessionId: id,
    frame: frame.toString(),
    ...(parts
      ? { partTargets: parts.map(({ part, target: piece }) => ({ part, target: wrap(piece) })) }
      : { target: wrap(target) }),
    ...(start ? { start: wrap(start) } : {}),
    ...(kinematic ? { kinematic } : {}),
    timeBudget,
  });
}

function replyOf(returned: Returned, name: 'ResolveResponse' | 'StepResponse', like: Positions): Reply {
  if ('error' in returned) return { refusal: refusalOf(returned.error) };
  const { positions, report } = decode(name, returned.bytes) as {
    readonly positions: { readonly data: Uint8Array; readonly scalar: string };
    readonly report: WireReport;
  };
  return { answer: { positions: toPositions(positions.data, like, positions.scalar), report } };
}

function refusalOf({ code, message, pairCount, retryable }: Plain): Refusal {
  return {
    code: String(code ?? 'NO_CODE'),
    message: String(message),
    pairCount: Number(pairCount ?? 0),
    isRetryable: retryable === true,
  };
}

const wrap = (x: Positions): Plain => ({
  data: bytesOf(x),
  scalar: x instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
});

function meshOf({ vertexCount, parts, strainLimits, restLengths, ...bulk }: MeshInput): Plain {
  const limits = strainLimits && { ...strainLimits, rest: wrap(strainLimits.rest) };
  const arrays = Object.entries(bulk).filter(([, array]) => array !== undefined);
  const fields = Object.fromEntries(arrays.map(([name, array]) => [name, bytesOf(array as Uint8Array)]));
  const lengths = restLengths && restOf(restLengths);
  return {
    vertexCount,
    ...fields,
    ...(parts ? { parts } : {}),
    ...(limits ? { strainLimits: limits } : {}),
    ...(lengths ? { restLengths: lengths } : {}),
  };
}

const restOf = ({ positions, edges, lengths }: NonNullable<MeshInput['restLengths']>): Plain => ({
  ...(positions ? { positions: wrap(positions) } : {}),
  ...(edges ? { edges: bytesOf(edges) } : {}),
  ...(lengths ? { lengths: bytesOf(lengths) } : {}),
});

// The contract as an independent client reads it: the .proto file and a library, without the service's own code.

const folder = join(projectRoot, 'proto');
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => (target.startsWith('google/') ? target : join(folder, target));
root.loadSync('interstice/v1/collision.proto');

const STATUS = protobuf.parse(`syntax = "proto3";
  message Packed { string type_url = 1; bytes value = 2; }
  message RpcStatus { int32 code = 1; string message = 2; repeated Packed details = 3; }`).root;

export type Plain = Readonly<Record<string, unknown>>;

export function encode(name: string, message: Plain): Uint8Array {
  const type = root.lookupType(`interstice.v1.${name}`);
  // fromObject takes enum names and drops no field that is spelt correctly; a misspelt one is a fault of this campaign.
  return type.encode(type.fromObject(message)).finish();
}

export function decode(name: string, bytes: Uint8Array): Plain {
  const type = root.lookupType(`interstice.v1.${name}`);
  return type.toObject(type.decode(bytes), { longs: String, enums: String, defaults: true });
}

/** The contract's Error in a gRPC trailer; undefined if there is none. */
export function errorInTrailer(bytes: Uint8Array): Plain | undefined {
  const type = STATUS.lookupType('RpcStatus');
  const { details } = type.toObject(type.decode(bytes)) as { details?: { value: Uint8Array }[] };
  return details?.[0] ? decode('Error', details[0].value) : undefined;
}
