import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { StateListener } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { StateOrigin } from '../contract/path.js';
import type { Report } from '../contract/report.js';
import type { OnBudget } from '../contract/requests.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import { makeFolder } from '../folders.js';
import { addBoundaryFaces } from '../mesh/connectivity.js';
import { type MeshFile, writeMesh } from '../mesh/files/index.js';
import { scalarOf } from '../mesh/positions.js';
import { readKinematic } from '../mesh/vertex-data.js';
import { algorithmVersion, packageVersion } from '../paths.js';

/** A trace is a folder with one PLY file per state of a path, and an index. */

export const INDEX_NAME = 'trace.json';
/** The index until it is complete; one is left only by a process that was killed. */
export const INDEX_DRAFT_NAME = 'trace.json.tmp';
export const STATE_NAME = /^state-\d{5,}\.ply$/;
const nameOfState = (index: number): string => `state-${String(index).padStart(5, '0')}.ply`;

const nameOfOrigin = (index: number): string => `left-out-${String(index).padStart(5, '0')}.json`;

/** Writes the index at once, so that the folder of an interrupted run is recognised as a trace. */
export function beginTrace(folder: string): void {
  writeIndex(folder, { isComplete: false });
}

/** The index is renamed when it is complete: if it cannot be written (a full disk), the folder keeps the one before. */
function writeIndex(folder: string, content: object): void {
  const draft = join(folder, INDEX_DRAFT_NAME);
  removingOnFailure(draft, () => {
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`);
    renameSync(draft, join(folder, INDEX_NAME));
  });
}

/** No half file is left where a write fails, because it would have the name of a whole one. */
function removingOnFailure(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Writes the states of a path as they arrive: binary PLY in the scalar of the state, with the elements of the start.
 * Writing is synchronous on purpose: the engine does not send further states before this one is on disk, so a long path of
 * a large mesh never accumulates in memory.
 */
export class TraceWriter {
  private count = 0;
  private discarded = 0;
  private failure: unknown;

  constructor(
    private readonly folder: string,
    private readonly start: MeshFile,
    /** called once, at the first write that fails: the run should stop */
    private readonly onFailure: () => void,
  ) {}

  get states(): number {
    return this.count;
  }

  /**
   * Never throws, because it runs inside the loop of the engine; see {@link finish}.
   *
   * @param positions [3·V]; not kept
   * @param at the place of the state in the path; states with this place or a later one were discarded, and are removed
   * @param origin written beside the state if anything was left out on the way there
   */
  add(positions: Positions, at: number, origin?: StateOrigin): void {
    if (this.failure !== undefined) return;
    try {
      this.goBackTo(at);
      const originPath = join(this.folder, nameOfOrigin(this.states));
      removingOnFailure(originPath, () => {
        if (origin?.leftOut) writeFileSync(originPath, JSON.stringify(origin));
        this.write(positions);
      });
    } catch (error) {
      this.failure = error;
      this.onFailure();
    }
  }

  /** @throws the reason why a state could not be written */
  assertWritten(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /**
   * Writes the index of a complete path, whose last state is the answer. `discardedStates` counts the states that were
   * written and removed again.
   */
  finish(index: Readonly<Record<string, unknown>>): void {
    this.assertWritten();
    const { states, discarded } = this;
    writeIndex(this.folder, { isComplete: true, states, discardedStates: discarded, ...index });
  }

  private goBackTo(at: number): void {
    // The state at this place is written anew, so one state fewer is lost than is removed here.
    if (at < this.count) this.discarded += this.count - at - 1;
    while (this.count > at) {
      this.count--;
      rmSync(join(this.folder, nameOfState(this.count)));
      // Absent where nothing was left out. One of a removed state would excuse meetings of the state that replaces it.
      rmSync(join(this.folder, nameOfOrigin(this.count)), { force: true });
    }
  }

  private write(positions: Positions): void {
    const path = join(this.folder, nameOfState(this.states));
    removingOnFailure(path, () => {
      const file = openSync(path, 'w');
      try {
        for (const chunk of writeMesh(stateFile(this.start, positions), 'ply')) writeFully(file, chunk);
      } finally {
        closeSync(file);
      }
    });
    this.count++;
  }
}

/** The elements of the start with other positions. */
function stateFile(start: MeshFile, positions: Positions): MeshFile {
  const { sources: _, ...mesh } = start;
  return { ...mesh, format: 'ply', plyEncoding: 'binary_little_endian', scalar: scalarOf(positions), positions };
}

/** A write to a pipe or to a full disk may take only a part of the bytes. */
function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) done += writeSync(file, bytes, done);
}

export interface TraceOptions {
  /** the folder that holds the traces, one folder each */
  readonly folder: string;
  /** converts the report for trace.json; default: the plain report */
  readonly encodeReport?: ((report: Report) => unknown) | undefined;
  /** called when a trace cannot be written; the request continues */
  readonly onFailure: (reason: unknown) => void;
}

/** The fields of trace.json that describe the request. */
export interface TracedRequest {
  readonly operation: 'resolve' | 'step' | 'untangle';
  readonly requestId: string | undefined;
  readonly mesh: MeshInput;
  readonly parameters: ParametersInput;
  readonly timeBudgetSeconds?: number | undefined;
  readonly onBudget?: OnBudget | undefined;
}

/**
 * The trace of one request, in the same form as that of the command line's `--trace`. It serves to find faults and is
 * not suitable for a busy service: engines must send every state, and the thread that answers requests writes them.
 */
export class RequestTrace {
  private constructor(
    private readonly request: TracedRequest,
    private readonly options: TraceOptions,
    private readonly folder: string,
    private writer?: TraceWriter,
  ) {}

  /**
   * Creates the folder with its first index. Synchronous like the writing of states: with tracing, too, a request reaches the
   * queue in the turn of the event loop in which it arrived, and so a job that the queue refuses is refused to its caller.
   *
   * @returns undefined without options (tracing is off), and if either cannot be created; no folder is left then
   */
  static open(request: TracedRequest, options: TraceOptions | undefined): RequestTrace | undefined {
    if (!options) return undefined;
    try {
      const folder = makeTraceFolder(options.folder, request.requestId);
      try {
        beginTrace(folder);
      } catch (error) {
        rmSync(folder, { recursive: true });
        throw error;
      }
      return new RequestTrace(request, options, folder);
    } catch (reason) {
      options.onFailure(reason);
      return undefined;
    }
  }

  add(positions: Positions, at: number, origin?: StateOrigin): void {
    // The lane has checked the mesh before it sends the first state, so the mesh can be written to a file.
    this.writer ??= new TraceWriter(this.folder, fileOf(this.request.mesh, positions), () => {});
    this.writer.add(positions, at, origin);
  }

  /** @returns a listener that writes each state and then passes it on */
  listener(next: StateListener | undefined): StateListener {
    return (positions, at, origin) => {
      this.add(positions, at, origin);
      return next?.(positions, at);
    };
  }

  finish({ positions, report }: { readonly positions: Positions; readonly report: Report }): void {
    const { encodeReport = (plain: Report): unknown => plain } = this.options;
    this.close(positions, encodeReport(report));
  }

  finishUntangling({ positions, report }: UntangledState): void {
    const { contours, ...rest } = report;
    this.close(positions, { ...rest, contours: contours.map(({ points: _, ...contour }) => contour) });
  }

  private close(positions: Positions, report: unknown): void {
    const { operation, requestId, mesh, parameters, timeBudgetSeconds, onBudget } = this.request;
    try {
      if (!this.writer)
        throw new IntersticeError('INTERNAL', 'The engine returned an answer without any state of its path.');
      this.writer.finish({
        version: packageVersion,
        algorithmVersion,
        operation,
        requestId,
        vertexCount: mesh.vertexCount,
        scalar: scalarOf(positions),
        options: { parameters, timeBudgetSeconds, onBudget },
        kinematicVertices: listKinematic(mesh),
        report,
      });
    } catch (reason) {
      this.options.onFailure(reason);
    }
  }
}

/** Callers choose request ids: only plain names become names of folders. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** @returns a folder that did not exist before */
function makeTraceFolder(parent: string, requestId: string | undefined): string {
  // Only the owner may read: the folder holds a caller's geometry.
  makeFolder(parent, 0o700);
  const random = randomBytes(8).toString('hex');
  const name = requestId !== undefined && PLAIN_NAME.test(requestId) ? requestId : random;
  try {
    mkdirSync(join(parent, name), { mode: 0o700 });
    return join(parent, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    const other = join(parent, `${name}-${random}`);
    mkdirSync(other, { mode: 0o700 });
    return other;
  }
}

/** A solid is written as its surface. */
function fileOf(mesh: MeshInput, positions: Positions): MeshFile {
  const none = new Uint32Array();
  const { vertexCount, segments = none, particles = none, tetrahedra = none } = mesh;
  const triangles = addBoundaryFaces(mesh.triangles ?? none, tetrahedra, vertexCount);
  return {
    format: 'ply',
    scalar: scalarOf(positions),
    vertexCount,
    positions,
    triangles,
    segments,
    particles,
    faceSizes: new Uint32Array(triangles.length / 3).fill(3),
    faceVertices: triangles,
  };
}

function listKinematic(mesh: MeshInput): number[] {
  const flags = readKinematic(mesh);
  return [...flags.keys()].filter((vertex) => flags[vertex] === 1);
}
