import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { Report } from '../contract/report.js';
import type { OnBudget } from '../contract/requests.js';
import { addBoundaryFaces } from '../mesh/boundary.js';
import type { MeshFile } from '../mesh/files/index.js';
import { readKinematic } from '../mesh/vertex-data.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { beginTrace, TraceWriter } from './trace-writer.js';

export interface TraceOptions {
  /** the folder that traces are written into, one folder each */
  readonly folder: string;
  /** a report as it stands in trace.json; default as it is */
  readonly encodeReport?: ((report: Report) => unknown) | undefined;
  /** a trace that could not be written; the request goes on */
  readonly onFailure: (reason: unknown) => void;
}

/** What was asked, for trace.json. */
export interface TracedRequest {
  readonly operation: 'resolve' | 'step';
  readonly requestId: string | undefined;
  readonly mesh: MeshInput;
  readonly parameters: ParametersInput;
  readonly timeBudgetSeconds?: number | undefined;
  readonly onBudget?: OnBudget | undefined;
}

/**
 * Every state of one request's path on disk, in the form of the command line's `--trace`. A help in finding faults, not for
 * a busy service: it makes engines show every state, and writes them on the thread that answers.
 */
export class RequestTrace {
  private constructor(
    private readonly request: TracedRequest,
    private readonly options: TraceOptions,
    private readonly folder: string,
    private writer?: TraceWriter,
  ) {}

  /** Makes the folder; undefined when that fails. */
  static async open(request: TracedRequest, options: TraceOptions): Promise<RequestTrace | undefined> {
    try {
      const folder = await makeFolder(options.folder, request.requestId);
      beginTrace(folder);
      return new RequestTrace(request, options, folder);
    } catch (reason) {
      options.onFailure(reason);
      return undefined;
    }
  }

  add(positions: Positions, at: number): void {
    // At the first state the mesh has been checked by the worker, so that it can be made a file.
    this.writer ??= new TraceWriter(this.folder, fileOf(this.request.mesh, positions), () => {});
    this.writer.add(positions, at);
  }

  finish({ positions, report }: { readonly positions: Positions; readonly report: Report }): void {
    const { operation, requestId, mesh, parameters, timeBudgetSeconds, onBudget } = this.request;
    const { encodeReport = (plain: Report): unknown => plain } = this.options;
    try {
      if (!this.writer) throw new IntersticeError('INTERNAL', 'an answer came without the states that lead to it');
      this.writer.finish({
        version: packageVersion,
        algorithmVersion,
        operation,
        requestId,
        vertexCount: mesh.vertexCount,
        scalar: positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
        options: { parameters, timeBudgetSeconds, onBudget },
        kinematicVertices: listKinematic(mesh),
        report: encodeReport(report),
      });
    } catch (reason) {
      this.options.onFailure(reason);
    }
  }
}

/** A request id is a caller's text: only what is surely a plain name becomes one, and never an existing one again. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

async function makeFolder(parent: string, requestId: string | undefined): Promise<string> {
  // A caller's geometry is nobody else's business.
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const random = randomBytes(8).toString('hex');
  const name = requestId !== undefined && PLAIN_NAME.test(requestId) ? requestId : random;
  try {
    await mkdir(join(parent, name), { mode: 0o700 });
    return join(parent, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    const other = join(parent, `${name}-${random}`);
    await mkdir(other, { mode: 0o700 });
    return other;
  }
}

/** Solids are drawn by their surface. */
function fileOf(mesh: MeshInput, positions: Positions): MeshFile {
  const none = new Uint32Array();
  const { vertexCount, segments = none, particles = none, tetrahedra = none } = mesh;
  const triangles = addBoundaryFaces(mesh.triangles ?? none, tetrahedra, vertexCount);
  return {
    format: 'ply',
    scalar: positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
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
