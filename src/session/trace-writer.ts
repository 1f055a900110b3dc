import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type MeshFile, writeMesh } from '../mesh/files/index.js';
import type { Positions } from '../mesh/types.js';

/** The files of a trace: one for each state of a path, and an index. */
export const INDEX_NAME = 'trace.json';
export const STATE_NAME = /^state-\d{5,}\.ply$/;
const nameOfState = (index: number): string => `state-${String(index).padStart(5, '0')}.ply`;

/** trace.json is there from the beginning, so that the folder of an interrupted run is known for what it is. */
export function beginTrace(folder: string): void {
  writeIndex(folder, { isComplete: false });
}

function writeIndex(folder: string, content: object): void {
  writeFileSync(join(folder, INDEX_NAME), `${JSON.stringify(content, null, 2)}\n`);
}

/**
 * Writes every state of a path as it comes: binary PLY in the scalar of the state, with the elements of the start.
 * Writing is synchronous on purpose: the engine waits with its next states until this one is on disk, so that a long path
 * of a large mesh never piles up in memory.
 */
export class TraceWriter {
  private readonly digests: string[] = [];
  private failure: unknown;

  constructor(
    private readonly folder: string,
    private readonly start: MeshFile,
    /** called once, at the first failed write: the run should stop */
    private readonly onFailure: () => void,
  ) {}

  get states(): number {
    return this.digests.length;
  }

  /** @param positions [3·V]; not kept. Never throws, because it runs inside the engine's loop: see {@link finish}. */
  add(positions: Positions): void {
    if (this.failure !== undefined) return;
    try {
      this.write(positions);
    } catch (error) {
      this.failure = error;
      this.onFailure();
    }
  }

  /** Throws what went wrong while states were written. */
  assertWritten(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /**
   * Makes the answer the last state and writes trace.json. States after the answer exist only when the verifier rejected
   * them and an earlier one was sent; they are not part of the path and are removed, which `discardedStates` tells.
   */
  finish(answer: Positions, index: Readonly<Record<string, unknown>>): void {
    this.assertWritten();
    const last = this.digests.lastIndexOf(digestOf(answer));
    const kept = last === -1 ? this.states : last + 1;
    const discarded = this.states - kept;
    for (let state = kept; state < this.states; state++) rmSync(join(this.folder, nameOfState(state)));
    this.digests.length = kept;
    if (last === -1) this.write(answer);
    writeIndex(this.folder, { isComplete: true, states: this.states, discardedStates: discarded, ...index });
  }

  private write(positions: Positions): void {
    const file = openSync(join(this.folder, nameOfState(this.states)), 'w');
    try {
      for (const chunk of writeMesh(stateFile(this.start, positions), 'ply')) writeFully(file, chunk);
    } finally {
      closeSync(file);
    }
    this.digests.push(digestOf(positions));
  }
}

/** The start's elements at other positions. */
export function stateFile(start: MeshFile, positions: Positions): MeshFile {
  const scalar = positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  return { ...start, format: 'ply', plyEncoding: 'binary_little_endian', scalar, positions };
}

/** A write to a pipe or a full disk may take only a part. */
function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) done += writeSync(file, bytes, done);
}

const digestOf = (positions: Positions): string =>
  createHash('sha256')
    .update(new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength))
    .digest('base64');
