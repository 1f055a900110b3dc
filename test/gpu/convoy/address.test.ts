import t from 'tap';
import { addressByScene, MOST_SCENES, MOST_SHARED_BUFFERS } from '../../../gpu/convoy/address.js';
import { kernelFilesOf, STEP_STAGES, stepStagesWith } from '../../../gpu/kernels/table.js';
import { bindingsOf, loadKernel } from '../../../gpu/shaders.js';

/** Bytes of the smallest uniform binding that every adapter allows. */
const LEAST_UNIFORM_BYTES = 16_384;
/** Storage buffers of a device that has kernels for whole sweeps. */
const MANY_BUFFERS = 16;

const kernel = (body: string, bindings = '@group(0) @binding(1) var<storage, read_write> x: array<f32>;') => `
${bindings}
fn twice(k: u32) -> f32 {
  return 2.0 * x[k];
}
@compute @workgroup_size(64)
fn run(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32) {
  ${body}
}`;

t.test('A kernel accesses its scene’s part of every buffer, also in the functions that it calls.', async (t) => {
  const { code, bindings } = addressByScene(kernel('x[64u * group.x + local] = twice(x[0u]);'));
  t.match(code, 'fn twice(scene: SceneData, k: u32)');
  t.match(code, 'return 2.0 * x[scene.place.at0.x + u32(k)];');
  t.match(code, 'x[scene.place.at0.x + u32(64u * group.x + local)] = twice(scene, x[scene.place.at0.x + u32(0u)]);');
  t.strictSame(
    bindings.map(({ name, stride }) => [name, stride]),
    [['x', 4]],
  );
});

t.test('Kernels that use a buffer in an unknown way are refused.', async (t) => {
  t.throws(() => addressByScene(kernel('let all = &x;')), /as a whole/);
  t.throws(() => addressByScene(kernel('let x = 1.0;')), /calls a variable as a buffer is called: x/);
  const unknown = '@group(0) @binding(1) var<storage, read_write> x: array<Unknown>;';
  t.throws(() => addressByScene(kernel('x[0u] = x[1u];', unknown)), /Unknown, whose size is not known/);
});

t.test('Every kernel of a step and of its search can run in a convoy.', async (t) => {
  const few = kernelFilesOf('search', ...STEP_STAGES);
  for (const file of kernelFilesOf('search', ...stepStagesWith(MANY_BUFFERS)).keys()) {
    for (const hasSubgroups of [false, true]) {
      const text = loadKernel(file, hasSubgroups);
      const { bindings, placeBytes, uniforms } = addressByScene(text);
      t.strictSame(
        bindings.map(({ name }) => name).sort(),
        bindingsOf(text)
          .map(({ name }) => name)
          .sort(),
        file,
      );
      const buffers = [...bindings.map(({ type }) => type), uniforms].filter((type) => type !== 'uniform').length;
      t.ok(buffers <= (few.has(file) ? MOST_SHARED_BUFFERS : MANY_BUFFERS), `${file}: ${buffers} buffers`);
      t.ok(MOST_SCENES * placeBytes <= LEAST_UNIFORM_BYTES, file);
    }
  }
});
