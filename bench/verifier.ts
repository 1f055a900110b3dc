import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { buildMesh } from '../src/mesh/build.js';
import { measureMesh } from '../src/mesh/measure.js';
import { resolveParameters } from '../src/solver/parameters.js';
import { findDistances } from '../src/verify/distance.js';
import { findIntersections } from '../src/verify/state.js';
import type { PairRules } from '../src/verify/types.js';
import { makeCases } from './cases.js';

/**
 * Processor time of the verifier for one state, for the exact test and for the smallest distance, on the starts of the
 * scenes; alternating with another build of this project, whose findings must be the same.
 *
 *   node dist/bench/verifier.js OTHER_BUILD [DATA]      OTHER_BUILD: a folder like dist; DATA: the folder that holds dress/
 */

const REPEATS = 11;
const [other, data] = process.argv.slice(2);
if (other === undefined) throw new Error('Name the folder of another build.');

const importOf = (path: string) => import(pathToFileURL(resolve(other, path)).href);
const builds = [
  {
    findIntersections: (await importOf('src/verify/state.js')).findIntersections as typeof findIntersections,
    findDistances: (await importOf('src/verify/distance.js')).findDistances as typeof findDistances,
  },
  { findIntersections, findDistances },
];

function timed<T>(work: () => T): { readonly result: T; readonly milliseconds: number } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, milliseconds: (user + system) / 1000 };
}

for (const scene of ['layers', 'sleeve', ...(data === undefined ? [] : ['dress'])]) {
  for await (const { request, vertices } of makeCases([scene], [40_000], data)) {
    const x = Float64Array.from(request.start);
    const { parameters } = resolveParameters(request.parameters, measureMesh(buildMesh(request.mesh), x));
    const rules: PairRules = { kinematicPairs: parameters.kinematicPairs, maxPairs: 1 };
    const range = parameters.reach + parameters.activationDistance;
    const meshes = builds.map(() => buildMesh(request.mesh));
    const fastest = builds.map(() => ({ state: Number.POSITIVE_INFINITY, distance: Number.POSITIVE_INFINITY }));
    for (let n = 0; n < REPEATS; n++) {
      const findings = builds.map((build, k) => {
        const state = timed(() => build.findIntersections(meshes[k], x, rules));
        const distance = timed(() => build.findDistances(meshes[k], x, rules, range));
        fastest[k].state = Math.min(fastest[k].state, state.milliseconds);
        fastest[k].distance = Math.min(fastest[k].distance, distance.milliseconds);
        return [state.result, distance.result];
      });
      if (!isDeepStrictEqual(findings[0], findings[1])) throw new Error(`${scene}: the builds find different things.`);
    }
    const [before, now] = fastest.map(({ state, distance }) => state + distance);
    const show = ({ state, distance }: (typeof fastest)[number]) => `${state.toFixed(0)} + ${distance.toFixed(0)} ms`;
    console.log(
      `${scene}, ${vertices} vertices: other ${show(fastest[0])}, this ${show(fastest[1])}, ratio ${(now / before).toFixed(2)}`,
    );
  }
}
