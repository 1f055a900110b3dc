import type { DiagnosisFinding } from '../contract/diagnosis.js';
import type { ElementRef } from '../contract/elements.js';
import { distanceOf, heightOf } from '../mesh/lengths.js';
import { edgeRef, finding, plural, type Subject, show } from './subject.js';

/**
 * Ratio of longest side to shortest height from which on a triangle is a sliver: δ, a tenth of an edge, then exceeds
 * its height.
 */
const SLIVER_ASPECT = 20;

/** Ratio of height to longest side below which a triangle has no area: its height is the rounding of its corners. */
const NO_AREA = 1e-9;

/** Finds slivers, triangles without area, and edges without length. */
export function findThinTriangles(subject: Subject): DiagnosisFinding[] {
  const { mesh, x, maxElements, medianEdge } = subject;
  const { triangles, edges } = mesh;
  const flat: ElementRef[] = [];
  const slivers: { readonly aspect: number; readonly index: number }[] = [];
  let [flatCount, sliverCount, worst] = [0, 0, 0];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
    const longest = Math.max(distanceOf(x, a, b), distanceOf(x, b, c), distanceOf(x, c, a));
    const height = heightOf(x, a, b, c);
    if (height <= NO_AREA * longest) {
      flatCount++;
      if (flat.length < maxElements) flat.push(subject.triangle(t / 3));
    } else if (longest > SLIVER_ASPECT * height) {
      sliverCount++;
      worst = Math.max(worst, longest / height);
      keepWorst(slivers, { aspect: longest / height, index: t / 3 }, maxElements);
    }
  }
  const short: ElementRef[] = [];
  let shortCount = 0;
  for (let e = 0; e < edges.length; e += 2) {
    if (distanceOf(x, edges[e], edges[e + 1]) > 0) continue;
    shortCount++;
    if (short.length < maxElements) short.push(edgeRef(e / 2, edges[e], edges[e + 1]));
  }
  const findings: DiagnosisFinding[] = [];
  if (shortCount > 0) {
    const message = `${plural(shortCount, 'edge has', 'edges have')} no length.`;
    const advice = 'Their ends coincide: interstice doctor --weld-to FILE joins them.';
    findings.push(
      finding({ code: 'ZERO_LENGTH_EDGE', severity: 'WARNING', count: shortCount, elements: short, message, advice }),
    );
  }
  if (flatCount > 0) {
    const message = `${plural(flatCount, 'triangle has', 'triangles have')} no area.`;
    const advice =
      'They protect nothing that their edges do not, and have no normal. Remove them, or mesh the surface again.';
    findings.push(
      finding({ code: 'ZERO_AREA_TRIANGLE', severity: 'WARNING', count: flatCount, elements: flat, message, advice }),
    );
  }
  if (sliverCount > 0) {
    findings.push(
      finding({
        code: 'SLIVER_TRIANGLE',
        severity: sliverCount > MANY_SLIVERS * (triangles.length / 3) ? 'WARNING' : 'NOTE',
        count: sliverCount,
        measure: worst,
        unit: 'ratio',
        elements: slivers.map(({ index }) => subject.triangle(index)),
        message: `${plural(sliverCount, 'triangle is a sliver', 'triangles are slivers')}, the worst ${show(worst)} times as long as high (median edge ${show(medianEdge)}).`,
        advice: 'They are handled, but they cause small default lengths and many pairs; a more even mesh is faster.',
      }),
    );
  }
  return findings;
}

/** Share of slivers from which on they determine the cost of a mesh. */
const MANY_SLIVERS = 0.05;

/** Keeps the worst few, the worst first. */
function keepWorst<T extends { readonly aspect: number }>(list: T[], one: T, most: number): void {
  if (list.length === most && one.aspect <= (list[most - 1]?.aspect ?? Infinity)) return;
  const at = list.findIndex(({ aspect }) => aspect < one.aspect);
  list.splice(at < 0 ? list.length : at, 0, one);
  if (list.length > most) list.pop();
}
