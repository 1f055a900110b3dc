import { SCENES } from '../../examples/scenes/index.js';
import { readConfig } from '../../src/config/config.js';
import type { MeasuredOperations } from '../../src/contract/events.js';
import { createOperations } from '../../src/session/operations.js';

/** The session that every caller repeats: layers of cloth that are pushed back and forth. */

const { vertexCount, triangles, start, target } = SCENES.layers!(120);
export const MESH = { vertexCount, triangles };
export const FROM = Float32Array.from(start);

const SHARES = [0.1, 0.15, 0.16, 0.3, 0.28, 0.4, 0.2, 0.05];

export function targetOf(frame: bigint): Float32Array {
  const share = SHARES[Number(frame % BigInt(SHARES.length))]!;
  return FROM.map((x, i) => x + share * (target[i]! - x));
}

/** The answers of an undisturbed session in this process. */
export class Reference {
  private readonly answers: Promise<Buffer>[] = [];

  private constructor(
    private readonly operations: MeasuredOperations,
    private readonly sessionId: string,
  ) {}

  static async open(): Promise<Reference> {
    const { limits } = readConfig({});
    const operations = await createOperations({ engine: 'cpu', threads: 1, cores: 1, limits, allowUnverified: false });
    const { id } = await operations.createSession({ mesh: MESH, start: FROM, parameters: {}, idleTimeoutSeconds: 0 });
    return new Reference(operations, id);
  }

  async bytesOf(frame: bigint): Promise<Buffer> {
    const { answers, operations, sessionId } = this;
    while (BigInt(answers.length) < frame) {
      const next = BigInt(answers.length + 1);
      const answer = operations.step({ sessionId, frame: next, target: targetOf(next) });
      answers.push(
        answer.then(({ positions: { buffer, byteOffset, byteLength } }) => Buffer.from(buffer, byteOffset, byteLength)),
      );
    }
    return answers[Number(frame) - 1]!;
  }

  close(): Promise<void> {
    return this.operations.close();
  }
}
