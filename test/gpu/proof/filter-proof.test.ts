import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { findFilterObjection, judgeDoubtful, loadProvenKernels } from '../../../gpu/proof/filter-proof.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { openFilterDevice } from '../filter/filter-device.js';

const { device, options, close } = await openFilterDevice();
t.teardown(close);

t.test('this adapter may filter', options, async (t) => {
  if (!device) return;
  const gpu = device.memory.device;
  t.equal(await findFilterObjection(gpu, await KernelSet.load(gpu, 'filter')), undefined);
  t.equal(await loadProvenKernels(gpu), await loadProvenKernels(gpu), 'the proof runs once per device');
});

t.test('an adapter may not filter if the bound does not cover its rounding', options, async (t) => {
  if (!device) return;
  const gpu = device.memory.device;
  for (const constants of [{ MARGIN: 0 }, { SLACK_SHARE: 0 }] as Record<string, number>[]) {
    const objection = await findFilterObjection(
      gpu,
      await KernelSet.compile(gpu, ['filter'], { constants: { 'filter/walk': constants } }),
    );
    t.match(objection, /lost \d+ of \d+ intersections/, JSON.stringify(constants));
  }
  const useless = await findFilterObjection(
    gpu,
    await KernelSet.compile(gpu, ['filter'], { constants: { 'filter/walk': { MARGIN: 1e6 } } }),
  );
  t.match(useless, /doubts .* of all pairs/, 'nor one that is never certain');
});

t.test('a pair that is listed twice does not stand for one that is lost', async (t) => {
  const mesh = buildMesh({ vertexCount: 7, triangles: Uint32Array.of(0, 1, 2), segments: Uint32Array.of(3, 4, 5, 6) });
  const rod = (at: number) => [at, at, -1, at, at, 1];
  const x = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, ...rod(0.2), ...rod(0.3));
  const [one, other] = [3, 5].map((v) => {
    return [...Array(mesh.edges.length / 2).keys()].find(
      (e) => Math.min(mesh.edges[2 * e]!, mesh.edges[2 * e + 1]!) === v,
    )!;
  });
  const judge = (...edges: number[]) =>
    judgeDoubtful(mesh, x, { pairsTested: 4, pairs: Uint32Array.from(edges.flatMap((edge) => [edge, 0])) });
  t.equal(judge(one!, other!), undefined);
  t.match(judge(one!), /lost 1 of 2 intersections/);
  t.match(judge(one!, one!), /lists 1 of 2 pairs twice/);
});
