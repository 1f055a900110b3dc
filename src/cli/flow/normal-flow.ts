import type { Positions } from '../../contract/mesh.js';
import type { Report } from '../../contract/report.js';
import type { BackendSession } from '../backend.js';
import { smooth, vertexNormals } from './normals.js';

export interface FlowSettings {
  /** along the normals of the triangles; negative: against them. The unit of the mesh */
  readonly distance: number;
  readonly steps: number;
  /** α, 0 to 1; see {@link smooth} */
  readonly smoothing: number;
}

export interface FlowResult {
  readonly positions: Positions;
  /** of every step */
  readonly reports: readonly Report[];
  /** float64[V]: how far each vertex has moved in the direction of the flow, in the unit of the mesh */
  readonly reached: Float64Array;
}

/**
 * Normal flow (section 7.4): the target of every step is β = distance / steps along the normals of the state that the
 * last step has reached, y = x ± β n, and the session moves as far as it can. A vertex that was held back does not
 * catch up later.
 *
 * The distance that a vertex has reached is the sum of its motion along its normals, Σ_k n_k·(x_{k+1} − x_k), which
 * equals the requested distance if nothing is in its way and nothing is smoothed.
 *
 * @param onStep called before every step with its number, from 1
 * @throws the error of a step of the session; no further step is made
 */
export async function flow(
  session: BackendSession,
  surface: { readonly triangles: Uint32Array; readonly start: Positions },
  settings: FlowSettings,
  onStep: (step: number) => void,
): Promise<FlowResult> {
  const { triangles } = surface;
  const direction = Math.sign(settings.distance);
  const stride = settings.distance / settings.steps;
  const reached = new Float64Array(surface.start.length / 3);
  const reports: Report[] = [];
  let positions = surface.start;
  for (let step = 1; step <= settings.steps; step++) {
    onStep(step);
    const normals = vertexNormals(triangles, positions);
    const y = Float64Array.from(positions, (value, i) => value + stride * normals[i]!);
    smooth(triangles, y, settings.smoothing);
    const target = positions instanceof Float64Array ? y : Float32Array.from(y);
    const answer = await session.step(target);
    for (let i = 0; i < y.length; i++) {
      const vertex = Math.floor(i / 3);
      reached[vertex] = reached[vertex]! + direction * normals[i]! * (answer.positions[i]! - positions[i]!);
    }
    positions = answer.positions;
    reports.push(answer.report);
  }
  return { positions, reports, reached };
}
