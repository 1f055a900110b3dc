import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Positions } from '../contract/mesh.js';
import { type MeshFile, writeMesh } from '../mesh/files/index.js';

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
  private count = 0;
  private discarded = 0;
  private failure: unknown;

  constructor(
    private readonly folder: string,
    private readonly start: MeshFile,
    /** called once, at the first failed write: the run should stop */
    private readonly onFailure: () => void,
  ) {}

  get states(): number {
    return this.count;
  }

  /**
   * @param positions [3·V]; not kept. Never throws, because it runs inside the engine's loop: see {@link finish}.
   * @param at its place in the path; what was there and after it was given up, and is removed
   */
  add(positions: Positions, at: number): void {
    if (this.failure !== undefined) return;
    try {
      this.goBackTo(at);
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

  /** Writes trace.json: the path is whole, its last state the answer. `discardedStates` tells how many were given up. */
  finish(index: Readonly<Record<string, unknown>>): void {
    this.assertWritten();
    const { states, discarded } = this;
    writeIndex(this.folder, { isComplete: true, states, discardedStates: discarded, ...index });
  }

  private goBackTo(at: number): void {
    // The state in this place is written again, so that one less is gone than is removed here.
    if (at < this.count) this.discarded += this.count - at - 1;
    while (this.count > at) rmSync(join(this.folder, nameOfState(--this.count)));
  }

  private write(positions: Positions): void {
    const file = openSync(join(this.folder, nameOfState(this.states)), 'w');
    try {
      for (const chunk of writeMesh(stateFile(this.start, positions), 'ply')) writeFully(file, chunk);
    } finally {
      closeSync(file);
    }
    this.count++;
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
