import type { MeshInput, Positions } from '../../../src/contract/mesh.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import {
  BUDGET_SECONDS,
  bytesOf,
  type CallOptions,
  type Door,
  isClosedSocket,
  type Opened,
  type Refusal,
  type Reply,
  type StepTerms,
  sendAgainIfLost,
  toPositions,
  type Untangled,
  type UntangleTerms,
  type WireReport,
  type WireUntangleReport,
} from './door.js';

/** Calls the service like an independent client: JSON with base64, and raw floats for the steps of a session. */
export class Client implements Door {
  readonly #timeBudget: string;

  constructor(
    readonly address: string,
    budgetSeconds = BUDGET_SECONDS,
  ) {
    this.#timeBudget = `${budgetSeconds}s`;
  }

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
      timeBudget: this.#timeBudget,
    };
    return this.#answer(await this.#post('/v1/resolve', body, options), target);
  }

  async untangle(
    mesh: MeshInput,
    positions: Positions,
    parameters: ParametersInput,
    { budgetSeconds, ...own }: UntangleTerms,
    options: CallOptions = {},
  ): Promise<Untangled | { readonly refusal: Refusal }> {
    const body = {
      ...{ mesh: meshJson(mesh), positions: positionsJson(positions), parameters, options: own },
      timeBudget: budgetSeconds === undefined ? this.#timeBudget : `${budgetSeconds.toFixed(6)}s`,
    };
    const response = await this.#post('/v1/untangle', body, options);
    const content = (await response.json()) as {
      readonly positions: { readonly data: string; readonly scalar: string };
      readonly regions?: string;
      readonly report: WireUntangleReport;
    };
    if (!response.ok) return { refusal: refusalOf(content) };
    const { data, scalar } = content.positions;
    return {
      positions: toPositions(Buffer.from(data, 'base64'), positions, scalar),
      regions: new Uint32Array(new Uint8Array(Buffer.from(content.regions ?? '', 'base64')).buffer),
      report: content.report,
    };
  }

  async createSession(mesh: MeshInput, start: Positions, parameters: ParametersInput): Promise<Opened> {
    const response = await this.#post('/v1/sessions', {
      mesh: meshJson(mesh),
      start: positionsJson(start),
      parameters,
    });
    const content = (await response.json()) as { id: string };
    return response.ok ? { id: content.id } : { refusal: refusalOf(content) };
  }

  async step(
    id: string,
    frame: bigint,
    target: Positions,
    terms: StepTerms = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const { parts, start, kinematic } = terms;
    const body = {
      frame: frame.toString(),
      ...(parts
        ? { partTargets: parts.map(({ part, target: piece }) => ({ part, target: positionsJson(piece) })) }
        : { target: positionsJson(target) }),
      ...(start ? { start: positionsJson(start) } : {}),
      ...(kinematic ? { kinematic: base64(kinematic) } : {}),
      timeBudget: this.#timeBudget,
    };
    return this.#answer(await this.#post(`/v1/sessions/${id}/steps`, body, options), target);
  }

  async stepFast(id: string, frame: bigint, target: Positions): Promise<Reply> {
    const scalar = target instanceof Float64Array ? 'float64' : 'float32';
    const response = await send(`${this.address}/v1/sessions/${id}/steps?scalar=${scalar}&frame=${frame}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: bytesOf(target) as Uint8Array<ArrayBuffer>,
    });
    if (!response.ok) return { refusal: refusalOf(await response.json()) };
    const report = JSON.parse(response.headers.get('interstice-report') ?? '{}') as WireReport;
    return { answer: { positions: toPositions(new Uint8Array(await response.arrayBuffer()), target), report } };
  }

  async deleteSession(id: string): Promise<void> {
    const response = await fetch(`${this.address}/v1/sessions/${id}`, { method: 'DELETE' });
    await response.arrayBuffer();
  }

  async check(mesh: MeshInput, x: Positions, end?: Positions) {
    const body = {
      mesh: meshJson(mesh),
      positions: positionsJson(x),
      ...(end ? { pathEnd: positionsJson(end) } : {}),
    };
    const response = await this.#post('/v1/check', body);
    const content = (await response.json()) as { intersectionCount: string; pathFree?: boolean };
    if (!response.ok) throw new Error(`Check was refused: ${JSON.stringify(content)}`);
    return { count: Number(content.intersectionCount), pathFree: content.pathFree };
  }

  close(): void {}

  #post(path: string, body: object, { signal, requestId }: CallOptions = {}): Promise<Response> {
    return send(`${this.address}${path}`, {
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

  async #answer(response: Response, target: Positions): Promise<Reply> {
    const content = (await response.json()) as { positions: { data: string; scalar: string }; report: WireReport };
    if (!response.ok) return { refusal: refusalOf(content) };
    const { data, scalar } = content.positions;
    return { answer: { positions: toPositions(Buffer.from(data, 'base64'), target, scalar), report: content.report } };
  }
}

const send = (address: string, terms: RequestInit): Promise<Response> =>
  sendAgainIfLost(() => fetch(address, terms), isClosedSocket);

function refusalOf(content: unknown): Refusal {
  const { code, message, pairCount, retryable } = content as Partial<Record<string, string | boolean>>;
  return {
    code: String(code ?? 'NO_CODE'),
    message: String(message ?? JSON.stringify(content)),
    pairCount: Number(pairCount ?? 0),
    isRetryable: retryable === true,
  };
}

const base64 = (array: ArrayBufferView): string => Buffer.from(bytesOf(array)).toString('base64');

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
  const { parts, strainLimits, restLengths } = mesh;
  const { positions, edges, lengths } = restLengths ?? {};
  const rest = {
    ...(positions ? { positions: positionsJson(positions) } : {}),
    ...(edges ? { edges: base64(edges) } : {}),
    ...(lengths ? { lengths: base64(lengths) } : {}),
  };
  const limits = strainLimits && { ...strainLimits, rest: positionsJson(strainLimits.rest) };
  return {
    vertexCount: mesh.vertexCount,
    ...bulk,
    ...(parts ? { parts } : {}),
    ...(limits ? { strainLimits: limits } : {}),
    ...(restLengths ? { restLengths: rest } : {}),
  };
}
