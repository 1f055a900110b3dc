import type { GpuEngine } from '../../gpu/engine.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { buildMesh } from '../../src/mesh/build.js';
import { decideDoubtful, findIntersections } from '../../src/verify/state.js';
import type { PairRules } from '../../src/verify/types.js';
import { type Spread, spreadOf } from '../measure.js';
import type { Outcome } from './items.js';

const REPEATS = 9;
const RULES: PairRules = { kinematicPairs: 'PROTECT', maxPairs: 64 };

async function measure(work: () => unknown): Promise<Spread> {
  const times: number[] = [];
  for (let n = 0; n < REPEATS; n++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return spreadOf(times);
}

const show = ({ median, min, max }: Spread): string => `${median.toFixed(1)} ms (${min.toFixed(1)}–${max.toFixed(1)})`;

/**
 * Compares the exact test of a state on the host with the device's filter followed by the exact test of the doubtful
 * pairs.
 */
export async function compareFilter(
  engine: Pick<GpuEngine, 'openStateFilter'>,
  { mesh: input, start }: Pick<ResolveRequest, 'mesh' | 'start'>,
): Promise<Outcome> {
  const mesh = buildMesh(input);
  const filter = await engine.openStateFilter(mesh);
  try {
    const began = performance.now();
    // The first state uploads the mesh.
    const doubtful = await filter.findDoubtful(start);
    const firstMilliseconds = performance.now() - began;
    const host = await measure(() => findIntersections(mesh, start, RULES));
    const device = await measure(() => filter.findDoubtful(start));
    const rest = await measure(() => doubtful && decideDoubtful(mesh, start, RULES, doubtful));
    const ratio = (device.median + rest.median) / host.median;
    const triangles = mesh.triangles.length / 3;
    const pairs = doubtful ? `${doubtful.pairs.length / 2} of ${doubtful.pairsTested} pairs in doubt` : 'gave up';
    return {
      figures: { triangles, firstMilliseconds, host, device, rest, ratio },
      lines: [
        `${triangles} triangles: host ${show(host)}; device ${show(device)}, first ${firstMilliseconds.toFixed(1)} ms, rest ${show(rest)}; ` +
          `ratio ${ratio.toFixed(2)}; ${pairs}`,
      ],
    };
  } finally {
    filter.close();
  }
}
