import type { Diagnosis } from '../contract/diagnosis.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import { OPERATIONS, type OperationRow } from '../contract/operation-table.js';
import type { OperationName } from '../contract/operations.js';
import type { Path } from '../contract/path.js';
import type { CheckAnswer, ResolveAnswer } from '../contract/requests.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { encodeJson } from '../transport/json/encode.js';
import { messageShape } from '../transport/messages/schema.js';
import { secondsToDuration } from '../transport/messages/wire-message.js';
import type { Backend } from './backend.js';
import { decodeAnswer } from './remote-decode.js';
import { errorOf, parseServerUrl, type RemoteError, sendForStream, sendJson } from './remote-http.js';
import { openRemoteJobs } from './remote-jobs.js';
import { openRemoteSession } from './remote-session.js';

/**
 * A running service as the operations that the commands call.
 *
 * Meshes are sent as JSON with base64 arrays: bit for bit in both directions, and the answer contains the whole report.
 * (The answer to a multipart upload has only the report's numbers, in a header, without pairs and warnings.)
 *
 * @param apiKey undefined for a service without keys
 * @throws UsageError if the address is not a URL
 */
export function createRemote(address: string, apiKey?: string): Backend {
  const service = { base: parseServerUrl(address), apiKey };
  return {
    async resolve(request, context) {
      const asked = { signal: context?.signal, onProgress: context?.onProgress };
      return toResolveAnswer((await callService(service, 'resolve', request, asked)) as RemoteAnswer);
    },
    async check(request, context) {
      return (await callService(service, 'check', request, { signal: context?.signal })) as CheckAnswer;
    },
    async diagnose(request, context) {
      return (await callService(service, 'diagnose', request, { signal: context?.signal })) as Diagnosis;
    },
    async untangle(request, context) {
      const asked = { signal: context?.signal, onProgress: context?.onUntangleProgress };
      return toUntangled((await callService(service, 'untangle', withOptions(request), asked)) as RemoteUntangled);
    },
    openSession: (request, signal) => openRemoteSession(service, request, signal),
    jobs: openRemoteJobs(service),
    close: () => Promise.resolve(),
  };
}

/** Converts an answer: positions are in a message with their scalar; other fields have the form of the contract. */
export function toResolveAnswer({ positions, path, ...rest }: RemoteAnswer): ResolveAnswer {
  return {
    ...rest,
    positions: positions.data,
    ...(path ? { path: { ...path, positions: path.positions.data } } : {}),
  };
}

export const toUntangled = ({ positions, ...same }: RemoteUntangled): UntangledState => ({
  ...same,
  positions: positions.data,
});

/** In the contract, the hints and limits of an untangling are a separate message. */
export function withOptions({ layers, turned, maxIterations, maxDisplacement, ...rest }: UntangleRequest): object {
  return { ...rest, options: { layers, turned, maxIterations, maxDisplacement } };
}

interface PositionsMessage {
  readonly data: Positions;
}

export type RemoteUntangled = Omit<UntangledState, 'positions'> & { readonly positions: PositionsMessage };

/** An answer with its messages of positions. */
export interface RemoteAnswer extends Omit<ResolveAnswer, 'positions' | 'path'> {
  readonly positions: PositionsMessage;
  readonly path?: Omit<Path, 'positions'> & { readonly positions: PositionsMessage };
}

export interface ServiceAddress {
  readonly base: URL;
  readonly apiKey: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallOptions {
  readonly signal: AbortSignal | undefined;
  /** of the session or job, for the operations on one */
  readonly id?: string;
  /** Called with the progress of an operation whose row has a stream; the answer then comes as a stream. */
  readonly onProgress?: ((progress: never) => void) | undefined;
}

/**
 * Calls an operation as described by its row of the operation table.
 *
 * @returns the message that the row names as its response
 */
export async function callService(
  { base, apiKey, headers }: ServiceAddress,
  name: OperationName,
  request: object,
  { signal, id = '', onProgress }: CallOptions,
): Promise<unknown> {
  const row: OperationRow = OPERATIONS[name];
  const { request: message, response, httpMethod, httpPath } = row;
  const url = new URL(httpPath.slice(1).replace(':id', encodeURIComponent(id)), base);
  if (httpMethod === 'DELETE') return sendJson(url, undefined, signal, { apiKey, headers, method: httpMethod });
  const json = encodeJson(message, requestMessage(message, request), { arrays: false });
  if (httpMethod === 'GET') {
    for (const [field, value] of Object.entries(json)) url.searchParams.set(field, String(value));
    return decodeAnswer(response, await sendJson(url, undefined, signal, { apiKey, headers, method: httpMethod }));
  }
  if (onProgress === undefined || row.stream === undefined) {
    return decodeAnswer(response, await sendJson(url, json, signal, { apiKey, headers }));
  }
  const streamed = row.stream.response;
  const answer = await sendForStream(url, json, signal, { apiKey, headers }, (line) => {
    const { progress, error, response } = decodeAnswer(streamed, line) as StreamedMessage;
    if (progress !== undefined) onProgress(progress as never);
    if (error !== undefined) throw errorOf(error);
    return response;
  });
  // A service without this stream gives a single answer.
  return answer.isStreamed ? answer.value : decodeAnswer(response, answer.value);
}

/** A message of the contract's streams: one of these fields, or none, which only keeps the connection open. */
interface StreamedMessage {
  readonly progress?: unknown;
  readonly error?: RemoteError;
  readonly response?: unknown;
}

/** A request as its protobuf message: positions carry their scalar, and seconds become a duration. */
export function requestMessage(typeName: string, request: object): object {
  const values = request as Readonly<Record<string, unknown>>;
  const fields = messageShape(typeName).fields.map(({ jsonName, kind }) => {
    if (kind.of === 'duration') {
      const seconds = values[`${jsonName}Seconds`] as number | undefined;
      return [jsonName, seconds === undefined ? undefined : secondsToDuration(seconds)];
    }
    const value = values[jsonName];
    const isPositions = kind.of === 'message' && kind.type === 'Positions' && value !== undefined;
    if (jsonName === 'mesh' && value !== undefined) return [jsonName, meshMessage(value as MeshInput)];
    return [jsonName, isPositions ? positionsMessage(value as Positions) : value];
  });
  return Object.fromEntries(fields);
}

function meshMessage(mesh: MeshInput): object {
  const { strainLimits, restLengths } = mesh;
  const { positions } = restLengths ?? {};
  return {
    ...mesh,
    ...(strainLimits && { strainLimits: { ...strainLimits, rest: positionsMessage(strainLimits.rest) } }),
    ...(positions && { restLengths: { ...restLengths, positions: positionsMessage(positions) } }),
  };
}

const positionsMessage = (positions: Positions): object => ({
  data: positions,
  scalar: positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
});
