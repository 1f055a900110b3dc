import { spawnSync } from 'node:child_process';
import t from 'tap';
import { openAdapter } from '../../../gpu/device/adapter.js';
import { makeProofCases, PROOF_POINTS } from '../../../gpu/proof-cases.js';
import { judgeHeights, proveAdapter, readGapKernel } from '../../../gpu/self-proof.js';

const isRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';
const opening = await openAdapter({ allowSoftware: true });
const { opened } = opening;
/** With INTERSTICE_REQUIRE_GPU=1 no test is skipped: the first one fails with the reason. */
const needsAdapter = opened || isRequired ? {} : { skip: opening.reason };
t.teardown(() => opened?.close());

t.test('An adapter is found where one is required.', needsAdapter, async (t) => {
  t.ok(opened, opening.reason ?? 'opened');
  if (!opened) return;
  t.match(opened.description.name, /^webgpu: ./);
  t.type(opened.description.software, 'boolean');
  t.ok(opened.description.maxBufferBytes >= 128 * 1024 * 1024, 'the standard guarantees 128 MiB a binding');
});

if (opened) {
  t.test('The device gets all the storage that the adapter allows.', async (t) => {
    const { device } = await opened.requestDevice();
    t.equal(device.limits.maxStorageBufferBindingSize, opened.adapter.limits.maxStorageBufferBindingSize);
    t.equal(device.limits.maxBufferSize, opened.adapter.limits.maxBufferSize);
    t.ok(device.limits.maxStorageBuffersPerShaderStage >= 8);
  });

  t.test('the adapter proves its arithmetic', async (t) => {
    const { device } = await opened.requestDevice();
    const proof = await proveAdapter(device);
    t.ok(proof.ok, proof.reason ?? 'proved');
    t.ok(proof.worst <= 1 && proof.worst > 0, `worst error is ${proof.worst} of the bound`);
    t.comment(`${opened.description.adapter}: worst ${proof.worst.toFixed(4)} of the bound, ${proof.pairs} pairs`);
  });

  t.test('a kernel that multiplies before it subtracts is refused', async (t) => {
    const { device } = await opened.requestDevice();
    const sloppy = readGapKernel().replace(
      'n.x * d.x + n.y * d.y + n.z * d.z;',
      '(n.x * points[at] + n.y * points[at + 1u] + n.z * points[at + 2u]) - (n.x * o.x + n.y * o.y + n.z * o.z);',
    );
    t.not(sloppy, readGapKernel(), 'the fault is planted');
    const proof = await proveAdapter(device, sloppy);
    t.equal(proof.ok, false);
    t.match(proof.reason, /pair \d+ \(.+\)/, 'says where');
  });

  t.test('a kernel that does not compile is an error, not a proof', async (t) => {
    const { device } = await opened.requestDevice();
    device.addEventListener('uncapturederror', (event) => event.preventDefault());
    await t.rejects(proveAdapter(device, 'this is no WGSL'));
  });

  t.test('Closing destroys the devices and reports it.', async (t) => {
    const second = (await openAdapter({ allowSoftware: true })).opened;
    if (!second) throw new Error('the adapter opened once but not twice');
    const { lost } = await second.requestDevice();
    second.close();
    t.equal((await lost).reason, 'destroyed');
    await t.rejects(second.requestDevice(), /closed/);
  });

  t.test('A software adapter is refused where it is not allowed.', async (t) => {
    const strict = await openAdapter({ allowSoftware: false });
    t.teardown(() => strict.opened?.close());
    if (opened.description.software) t.match(strict.reason, /software/);
    else t.ok(strict.opened);
  });

  t.test('An unknown name matches no adapter, and the reason repeats it.', async (t) => {
    const none = await openAdapter({ allowSoftware: true, name: 'no such adapter' });
    t.teardown(() => none.opened?.close());
    t.equal(none.opened, undefined);
    t.match(none.reason, /no such adapter/);
  });

  t.test('A process that used a device and closed it ends by itself.', async (t) => {
    const adapter = new URL('../../../gpu/device/adapter.js', import.meta.url).href;
    const proof = new URL('../../../gpu/self-proof.js', import.meta.url).href;
    const program = `
      const { openAdapter } = await import('${adapter}');
      const { proveAdapter } = await import('${proof}');
      const { opened } = await openAdapter({ allowSoftware: true });
      const { device } = await opened.requestDevice();
      const { ok } = await proveAdapter(device);
      opened.close();
      console.log(ok ? 'proved' : 'failed');`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { timeout: 60_000 });
    t.equal(run.signal, null, 'not ended by the time limit');
    t.equal(run.status, 0, run.stderr.toString());
    t.match(run.stdout.toString(), 'proved');
  });
}

t.test('Without any driver there is a reason and no exception.', async (t) => {
  const adapter = new URL('../../../gpu/device/adapter.js', import.meta.url).href;
  const program = `
    const { openAdapter } = await import('${adapter}');
    const opening = await openAdapter({ allowSoftware: true });
    console.log(JSON.stringify({ found: opening.opened !== undefined, reason: opening.reason }));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, VK_DRIVER_FILES: '/nonexistent.json', VK_ICD_FILENAMES: '/nonexistent.json' },
    timeout: 60_000,
  });
  t.equal(run.status, 0, run.stderr.toString());
  const answer: unknown = JSON.parse(run.stdout.toString());
  // These variables only hide Vulkan drivers: Metal and Direct3D stay visible elsewhere.
  if (process.platform === 'linux') t.match(answer, { found: false, reason: /driver/ });
  else t.type(answer, 'object');
});

t.test('the judge', async (t) => {
  const cases = makeProofCases();
  const stride = PROOF_POINTS + 1;
  /** The heights as an ideal device would give them: double precision, rounded once. */
  const ideal = () => {
    const outputs = new Float32Array(stride * cases.pairs);
    for (let pair = 0; pair < cases.pairs; pair++) {
      let largest = 0;
      for (let k = 0; k < PROOF_POINTS; k++) {
        const terms = [0, 1, 2].map(
          (c) => cases.normals[3 * pair + c] * (cases.points[12 * pair + 3 * k + c] - cases.points[12 * pair + c]),
        );
        outputs[stride * pair + k] = terms[0] + terms[1] + terms[2];
        largest = Math.max(largest, Math.abs(terms[0]) + Math.abs(terms[1]) + Math.abs(terms[2]));
      }
      outputs[stride * pair + PROOF_POINTS] = 8 * 2 ** -23 * largest;
    }
    return outputs;
  };
  t.ok(judgeHeights(cases, ideal()).ok, 'accepts correctly rounded heights');
  const off = ideal();
  off[stride * 2000 + 1] += 2 * off[stride * 2000 + PROOF_POINTS];
  t.match(judgeHeights(cases, off), { ok: false, reason: /pair 2000 \(small features.*point 1/ });
  const missing = ideal();
  missing[7] = Number.NaN;
  t.equal(judgeHeights(cases, missing).ok, false, 'NaN fails');
  const proud = ideal();
  proud[stride * 5 + PROOF_POINTS] *= 0.5;
  t.match(judgeHeights(cases, proud), { ok: false, reason: /error bound/ }, 'a bound that is too small fails');
});
