import type { MeshInput, Positions } from '../../src/mesh/types.js';
import type { ParametersInput } from '../../src/solver/types.js';

/** The report as JSON carries it: 64-bit counts are strings. */
export interface WireReport {
  readonly status: string;
  readonly steps: number;
  readonly searches: number;
  readonly proximitySetReused: boolean;
  readonly residual: number;
  readonly unfinishedVertices: number;
  readonly unreachedKinematic: number;
  readonly deflectedVertices: number;
  readonly distanceToTargetMax: number;
  readonly distanceToTargetRms: number;
  readonly maxStretch: number;
  readonly minDistance?: number;
  readonly verification: { readonly performed: string; readonly intersections: string; readonly fellBack: boolean };
  readonly resolved: {
    readonly activationDistance: number;
    readonly reach: number;
    readonly searchRadiusMax: number;
    readonly stepLimit: number;
    readonly residualTolerance: number;
    readonly preset: string;
    readonly kinematicPairs: 'SKIP' | 'PROTECT';
  };
  readonly sessionRebuilt: boolean;
  readonly engine: string;
}

export interface Answer {
  readonly positions: Positions;
  readonly report: WireReport;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly pairCount: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** names the request, and the folder of its trace */
  readonly requestId?: string;
}

export type Reply = { readonly answer: Answer } | { readonly refusal: Refusal };

/** A hard case may not eat the whole campaign; what is reached by then is safe and is judged like any answer. */
const BUDGET = '10s';

/** Talks to the service as a stranger would: JSON with base64, and raw floats for the steps of a session. */
export class Client {
  constructor(readonly address: string) {}

  async resolve(
    mesh: MeshInput,
    start: Positions,
    target: Positions,
    parameters: ParametersInput,
    options: CallOptions = {},
  ): Promise<Reply> {
    const body = {
      mesh: meshJson(mesh),
      start: positionsJson(start),
      target: positionsJson(target),
      parameters,
      timeBudget: BUDGET,
    };
    return this.#answer(await this.#post('/v1/resolve', body, options), target);
  }

  /** @returns the session's id */
  async createSession(
    mesh: MeshInput,
    start: Positions,
    parameters: ParametersInput,
  ): Promise<{ readonly id: string } | { readonly refusal: Refusal }> {
    const response = await this.#post('/v1/sessions', {
      mesh: meshJson(mesh),
      start: positionsJson(start),
      parameters,
    });
    const content = (await response.json()) as { id: string };
    return response.ok ? { id: content.id } : { refusal: refusalOf(content) };
  }

  /** One step over JSON: the whole report. */
  async step(id: string, frame: bigint, target: Positions, options: CallOptions = {}): Promise<Reply> {
    const body = { frame: frame.toString(), target: positionsJson(target), timeBudget: BUDGET };
    return this.#answer(await this.#post(`/v1/sessions/${id}/steps`, body, options), target);
  }

  /** One step as raw floats: the fast path. */
  async stepRaw(id: string, frame: bigint, target: Positions): Promise<Reply> {
    const scalar = target instanceof Float64Array ? 'float64' : 'float32';
    const response = await fetch(`${this.address}/v1/sessions/${id}/steps?scalar=${scalar}&frame=${frame}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: bytesOf(target),
    });
    if (!response.ok) return { refusal: refusalOf(await response.json()) };
    const report = JSON.parse(response.headers.get('interstice-report') ?? '{}') as WireReport;
    return { answer: { positions: toPositions(new Uint8Array(await response.arrayBuffer()), target), report } };
  }

  async deleteSession(id: string): Promise<void> {
    const response = await fetch(`${this.address}/v1/sessions/${id}`, { method: 'DELETE' });
    await response.arrayBuffer();
  }

  /** How many pairs the service finds in a state, and whether it calls the path to `end` free. */
  async check(
    mesh: MeshInput,
    x: Positions,
    end?: Positions,
  ): Promise<{ readonly count: number; readonly pathFree: boolean | undefined }> {
    const body = {
      mesh: meshJson(mesh),
      positions: positionsJson(x),
      ...(end ? { pathEnd: positionsJson(end) } : {}),
    };
    const response = await this.#post('/v1/check', body);
    const content = (await response.json()) as { intersectionCount: string; pathFree?: boolean };
    if (!response.ok) throw new Error(`check was refused: ${JSON.stringify(content)}`);
    return { count: Number(content.intersectionCount), pathFree: content.pathFree };
  }

  async features(): Promise<readonly string[]> {
    const response = await fetch(`${this.address}/v1`);
    return ((await response.json()) as { features: string[] }).features;
  }

  #post(path: string, body: object, { signal, requestId }: CallOptions = {}): Promise<Response> {
    return fetch(`${this.address}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, application/problem+json',
        ...(requestId ? { 'x-request-id': requestId } : {}),
      },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  }

  async #answer(response: Response, like: Positions): Promise<Reply> {
    const content = (await response.json()) as { positions: { data: string }; report: WireReport };
    if (!response.ok) return { refusal: refusalOf(content) };
    const bytes = Buffer.from(content.positions.data, 'base64');
    return { answer: { positions: toPositions(bytes, like), report: content.report } };
  }
}

function refusalOf(content: unknown): Refusal {
  const { code, message, pairCount } = content as { code?: string; message?: string; pairCount?: string };
  return { code: code ?? 'NO_CODE', message: message ?? JSON.stringify(content), pairCount: Number(pairCount ?? 0) };
}

type Bulk = Uint8Array | Uint32Array | Float32Array | Float64Array;

function bytesOf(array: Bulk): Uint8Array<ArrayBuffer> {
  return new Uint8Array(array.buffer.slice(array.byteOffset, array.byteOffset + array.byteLength) as ArrayBuffer);
}

const base64 = (array: Bulk): string =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

const positionsJson = (x: Positions): object => ({
  data: base64(x),
  scalar: x instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
});

function meshJson(mesh: MeshInput): object {
  const bulk: Record<string, string> = {};
  for (const name of ['triangles', 'segments', 'particles', 'tetrahedra', 'masses', 'kinematic'] as const) {
    const array = mesh[name];
    if (array && array.length > 0) bulk[name] = base64(array);
  }
  if (mesh.ignoredPartPairs?.length) bulk.ignoredPartPairs = base64(mesh.ignoredPartPairs);
  return { vertexCount: mesh.vertexCount, ...bulk, ...(mesh.parts ? { parts: mesh.parts } : {}) };
}

/** @throws when the answer does not have the length and scalar of its target */
function toPositions(bytes: Uint8Array, like: Positions): Positions {
  if (bytes.byteLength !== like.byteLength)
    throw new Error(`${bytes.byteLength} bytes of positions, not ${like.byteLength}`);
  // Not slice(): that of a Buffer shares the pool's memory.
  const copy = new Uint8Array(bytes).buffer;
  return like instanceof Float64Array ? new Float64Array(copy) : new Float32Array(copy);
}
