import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { GrpcClient } from '../../src/load/grpc-client.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { FROM, MESH, type Reference, targetOf } from './reference.js';

export type Way = 'http' | 'http without key' | 'grpc';

/** ms between two attempts */
const PAUSE_MS = 50;
/** Attempts per request: a server may be gone for as long as it takes to start one. */
const ATTEMPTS = 6000;

interface Attempt {
  readonly bytes?: Uint8Array;
  /** why it failed */
  readonly code?: string;
  /** whether the contract lets the same request be sent again */
  readonly isRetryable?: boolean;
}

/**
 * A client that follows the contract: it sends a frame and the previous frame in every step, and repeats the same
 * request after a retryable refusal or a broken connection. It compares every answer with the bytes of an undisturbed
 * session.
 */
export class Caller {
  frames = 0n;
  /** attempts that were not answered with 200, by reason */
  readonly failures = new Map<string, number>();
  /** longest time between two answers, ms */
  longestGapMs = 0;
  /** of its session; empty before {@link open} */
  id = '';
  private lastAnswer = performance.now();
  private readonly key: string;
  private readonly grpc: GrpcClient | undefined;

  constructor(
    private readonly way: Way,
    private readonly address: string,
    grpcAddress: string,
    private readonly reference: Reference,
    index: number,
  ) {
    this.key = `caller-${index}-${Math.random()}`;
    this.grpc = way === 'grpc' ? new GrpcClient(grpcAddress) : undefined;
  }

  async open(): Promise<void> {
    const parameters = {};
    const message = {
      mesh: { ...MESH, triangles: bytesOf(MESH.triangles) },
      start: { data: bytesOf(FROM) },
      parameters,
    };
    const body = encodeMessage('CreateSessionRequest', message);
    const bytes = await this.persist(() => this.send('CreateSession', '/v1/sessions', body, 'application/x-protobuf'));
    this.id = (decodeMessage('Session', bytes) as { id: string }).id;
    this.restartGap();
  }

  restartGap(): void {
    this.lastAnswer = performance.now();
    this.longestGapMs = 0;
  }

  /** @throws Error for an answer with other bytes, and for a final refusal */
  async step(): Promise<void> {
    const frame = this.frames + 1n;
    const target = bytesOf(targetOf(frame));
    const bytes = this.grpc
      ? await this.persist(() => this.stepByMessage(frame, target))
      : await this.persist(() => this.stepBare(frame, target));
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - this.lastAnswer);
    this.lastAnswer = now;
    const expected = await this.reference.bytesOf(frame);
    if (!expected.equals(bytes)) throw new Error(`Frame ${frame} of a session by ${this.way} has other bytes.`);
    this.frames = frame;
  }

  close(): void {
    this.grpc?.close();
  }

  private async persist(attempt: () => Promise<Attempt>): Promise<Uint8Array> {
    for (let k = 0; k < ATTEMPTS; k++) {
      const { bytes, code = '', isRetryable } = await attempt();
      if (bytes) return bytes;
      this.failures.set(code, (this.failures.get(code) ?? 0) + 1);
      if (!isRetryable) throw new Error(`A request by ${this.way} was refused for good: ${code}`);
      await sleep(PAUSE_MS);
    }
    throw new Error(
      `A request by ${this.way} was not answered after ${ATTEMPTS} attempts: ${[...this.failures.keys()].join('; ')}`,
    );
  }

  private stepBare(frame: bigint, target: Uint8Array): Promise<Attempt> {
    const path = `/v1/sessions/${this.id}/steps?frame=${frame}&after_frame=${frame - 1n}`;
    return this.send('Step', path, target, 'application/octet-stream');
  }

  private async stepByMessage(frame: bigint, target: Uint8Array): Promise<Attempt> {
    const message = { sessionId: this.id, frame, afterFrame: frame - 1n, target: { data: target } };
    const { bytes, ...rest } = await this.send('Step', '', encodeMessage('StepRequest', message), '');
    if (!bytes) return rest;
    const { positions } = decodeMessage('StepResponse', bytes) as { positions: { data: Uint8Array } };
    return { bytes: positions.data };
  }

  private async send(method: 'CreateSession' | 'Step', path: string, body: Uint8Array, type: string): Promise<Attempt> {
    if (this.grpc) {
      const reply = await this.grpc.call(method, body, this.key);
      if (reply.bytes) return { bytes: reply.bytes };
      // A status without an error of the service means that the proxy had no server, or the connection broke (the
      // library calls it INTERNAL when the stream ends without a status). The frame makes the same request safe to send
      // again.
      const isBroken = reply.code.startsWith('GRPC_');
      const isRetryable = isBroken || [status.UNAVAILABLE, status.RESOURCE_EXHAUSTED].includes(reply.error.code);
      return { code: `${reply.code} ${reply.error.details}`, isRetryable };
    }
    const headers: Record<string, string> = { 'content-type': type, accept: type };
    if (this.way === 'http') headers['x-session-id'] = this.key;
    try {
      const answer = await fetch(`${this.address}${path}`, { method: 'POST', body: Buffer.from(body), headers });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (answer.ok) return { bytes };
      const isRetryable = [429, 502, 503, 504].includes(answer.status);
      return { code: `${answer.status} ${Buffer.from(bytes).toString().slice(0, 200)}`, isRetryable };
    } catch (thrown) {
      return { code: `connection: ${String((thrown as Error).cause ?? thrown)}`, isRetryable: true };
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
