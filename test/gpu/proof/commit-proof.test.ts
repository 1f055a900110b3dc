import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import type { KernelFile } from '../../../gpu/kernels/table.js';
import { makeCommitCases } from '../../../gpu/proof/commit-cases.js';
import {
  type CommitAnswer,
  findSharedCommitObjection,
  judgeCommit,
  proveCommit,
} from '../../../gpu/proof/commit-proof.js';
import { loadKernel } from '../../../gpu/shaders.js';
import { openTestDevice } from '../../support/gpu.js';
import { shareOf } from '../../support/share.js';

/** The proof of the end of a step; that of certified gaps is in adapter.test.ts. */

t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

/** Scenes of a convoy take turns on few workgroups. */
const IS_SOFTWARE = true;

/** What a driver or a careless hand could make of the kernels, and what the proof says to it. */
const FAULTS: readonly {
  readonly name: string;
  readonly file: KernelFile;
  readonly from: string;
  readonly to: string;
  readonly verdict: RegExp;
}[] = [
  {
    name: 'the target is computed instead of copied',
    file: 'forward/write',
    from: 'bits == ONE_BITS',
    to: 'false',
    verdict: /written where .* was to be copied/,
  },
  {
    name: 'a vertex that stays is computed instead of copied',
    file: 'forward/write',
    from: 'next[k] = x[k];',
    to: 'next[k] = bitcast<u32>(bitcast<f32>(x[k]) + bitcast<f32>(bits) * bitcast<f32>(y[i][c]));',
    verdict: /written where .* was to be copied/,
  },
  {
    name: 'α is slightly too large',
    file: 'forward/write',
    from: 'here + alpha * (',
    to: 'here + alpha * 1.00001 * (',
    verdict: /was written instead of/,
  },
  {
    name: 'the check ignores its own rounding',
    file: 'forward/check',
    from: 'max(limit.error, corner.y)',
    to: '0.0',
    verdict: /broke its half-space/,
  },
  {
    name: 'the check multiplies before it subtracts',
    file: 'forward/check',
    from: 'let corner = measureCorner(n, vec3f(next[k], next[k + 1u], next[k + 2u]), origin);',
    to:
      'let at = vec3f(next[k], next[k + 1u], next[k + 2u]);' +
      'let corner = vec2f(heightOf(n, at) - heightOf(n, origin), measureCorner(n, at, origin).y);',
    verdict: /far from the origin.*(broke its half-space|sent back though it keeps)/,
  },
  {
    name: 'the check counts a corner of side b as one of side a',
    file: 'forward/check',
    from: 's < sideA)',
    to: 's <= sideA)',
    verdict: /sent back though it keeps|broke its half-space/,
  },
  {
    name: 'the check computes heights of large elements a little too large',
    file: 'forward/check',
    from: 'return f32(sum) * 5.9604644775390625e-8;',
    to: 'return f32(sum) * 5.9604644775390625e-8 + 1e-4;',
    verdict: /tens of thousands of edges.*(broke its half-space|sent back though it keeps)/,
  },
  {
    name: 'the check computes heights of large elements a little too small',
    file: 'forward/check',
    from: 'return f32(sum) * 5.9604644775390625e-8;',
    to: 'return f32(sum) * 5.9604644775390625e-8 - 1e-4;',
    verdict: /tens of thousands of edges.*(broke its half-space|sent back though it keeps)/,
  },
  {
    name: 'the commit ignores the check',
    file: 'forward/commit',
    from: 'isReverted(flags) || ',
    to: '',
    verdict: /broke its half-space/,
  },
  {
    name: 'the commit ignores the box',
    file: 'forward/commit',
    from: ' || leavesBox(i, written)',
    to: '',
    verdict: /left its box/,
  },
  {
    name: 'the commit uses a slightly larger box',
    file: 'forward/commit',
    from: 'at[c] <= box[6u * i + c + 3u]',
    to: 'at[c] <= box[6u * i + c + 3u] + 1e-7',
    verdict: /left its box/,
  },
  {
    name: 'the commit writes other positions than were checked',
    file: 'forward/commit',
    from: 'x[k + c] = next[k + c];',
    to: 'x[k + c] = bitcast<u32>(written[c] * 1.0000002);',
    verdict: /was committed instead of/,
  },
  {
    name: 'nothing is ever committed',
    file: 'forward/commit',
    from: 'isReverted(flags)',
    to: 'true',
    verdict: /sent back though it keeps|0 moved/,
  },
  {
    name: 'r is multiplied by the square of 1 − α',
    file: 'forward/commit',
    from: 'r * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha)))',
    to: 'r * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha))) * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha)))',
    verdict: /residual/,
  },
];

if (!gpu) t.test('the end of a step', options, async () => undefined);
else {
  const { device } = gpu.memory;

  t.test('the adapter proves the end of a step', async (t) => {
    const proof = await proveCommit(device, gpu.kernels);
    t.ok(proof.ok, proof.reason ?? 'proved');
    t.ok(proof.reverted > proof.vertices / 10, 'limits are broken often enough');
    t.ok(proof.reverted < (9 * proof.vertices) / 10, 'limits are kept often enough');
    t.strictSame(await proveCommit(device, gpu.kernels), proof, 'the same questions get the same answers');
  });

  t.test('planted faults are detected', async (t) => {
    for (const { name, file, from, to, verdict } of shareOf(FAULTS, 3)) {
      const text = loadKernel(file);
      const faulty = text.replace(from, to);
      t.not(faulty, text, `planted: ${name}`);
      const broken = await KernelSet.compile(device, ['forward'], {
        load: (wanted) => (wanted === file ? faulty : loadKernel(wanted)),
      });
      const proof = await proveCommit(device, gpu.kernels.with(broken));
      t.equal(proof.ok, false, name);
      t.match(proof.reason, verdict);
    }
  });

  t.test('the kernel that also watches passes the same proof, and its faults are detected', async (t) => {
    if (!gpu.kernels.has('commitAndWatch')) return t.comment('this adapter allows too few storage buffers');
    t.strictSame(await proveCommit(device, gpu.kernels, 'commitAndWatch'), await proveCommit(device, gpu.kernels));
    const faults = FAULTS.filter(({ file }) => file === 'forward/commit');
    t.ok(faults.length > 2, 'there are such faults');
    for (const { name, from, to, verdict } of shareOf(faults, 3)) {
      const file = 'joined/commit-and-watch';
      const faulty = loadKernel(file).replace(from, to);
      t.not(faulty, loadKernel(file), `planted: ${name}`);
      const load = (wanted: string) => (wanted === file ? faulty : loadKernel(wanted));
      const broken = await KernelSet.compile(device, ['joined'], { load });
      const proof = await proveCommit(device, gpu.kernels.with(broken), 'commitAndWatch');
      t.equal(proof.ok, false, name);
      t.match(proof.reason, verdict);
    }
  });

  t.test('the kernels of a convoy pass the same proof, and their faults are detected', async (t) => {
    const compile = (load = loadKernel) => KernelSet.compile(device, ['forward'], { load, isShared: true });
    const prove = (together: KernelSet) =>
      findSharedCommitObjection(device, { alone: gpu.kernels, together }, IS_SOFTWARE);
    t.equal(await prove(await compile()), undefined);
    for (const { name, file, from, to, verdict } of shareOf(FAULTS, 3)) {
      const faulty = loadKernel(file).replace(from, to);
      const together = await compile((wanted) => (wanted === file ? faulty : loadKernel(wanted)));
      t.match(await prove(together), verdict, name);
    }
  });

  t.test('other rounding in a convoy than alone is detected, even if the judge allows it', async (t) => {
    const load = (file: string) =>
      file === 'forward/write'
        ? loadKernel(file).replace(/here \+ alpha \* \((.*) - here\)/, '(1.0 - alpha) * here + alpha * $1')
        : loadKernel(file);
    t.not(load('forward/write'), loadKernel('forward/write'), 'planted');
    const together = await KernelSet.compile(device, ['forward'], { load, isShared: true });
    t.match(
      await findSharedCommitObjection(device, { alone: gpu.kernels, together }, IS_SOFTWARE),
      /the bytes that it has alone|was written instead of/,
    );
  });

  t.test('kernels of a convoy that use data of another scene are detected', async (t) => {
    const together = await KernelSet.compile(device, ['forward'], { isShared: true });
    const prove = () => findSharedCommitObjection(device, { alone: gpu.kernels, together }, IS_SOFTWARE);
    const bindings = (['write', 'check', 'commit'] as const)
      .flatMap((entry) => together.get(entry).shared?.bindings ?? [])
      .map((binding): { readonly name: string; stride: number } => binding);
    for (const wrong of shareOf(['x', 'y', 'next', 'box', 'vertexStep', 'limits', 'pairNormal', 'progress'], 2)) {
      const those = bindings
        .filter(({ name }) => name === wrong)
        .map((binding) => ({ binding, stride: binding.stride }));
      // Its first element counts as the first one of the buffer.
      for (const { binding } of those) binding.stride = Number.POSITIVE_INFINITY;
      t.not(await prove(), undefined, wrong);
      for (const { binding, stride } of those) binding.stride = stride;
    }
    t.equal(await prove(), undefined, 'they pass otherwise');
  });
}

t.test('the judge of the end of a step', async (t) => {
  const cases = makeCommitCases();
  const vertices = 4 * cases.pairs;
  /** Nobody moves: what every vertex may always do, but not all of them. */
  const idle = (): CommitAnswer => {
    const next = new Float32Array(3 * vertices);
    for (let k = 0; k < next.length; k++) {
      const alpha = cases.alpha[Math.floor(k / 3)];
      const way = Math.fround(alpha * Math.fround(cases.y[k] - cases.x[k]));
      next[k] = alpha === 1 ? cases.y[k] : alpha === 0 ? cases.x[k] : cases.x[k] + way;
    }
    const residual = cases.residual.slice();
    for (let v = 0; v < vertices; v++) {
      if ([0, 1, 2].every((c) => cases.x[3 * v + c] === cases.y[3 * v + c])) residual[v] = 0;
    }
    return { next, x: cases.x.slice(), alphaBits: new Uint32Array(vertices), residual };
  };
  t.match(judgeCommit(cases, idle()), { ok: false, reason: /sent back though it keeps/ });
  const strange = idle();
  const still = cases.alpha.indexOf(0);
  strange.x[3 * still] += 1;
  t.match(judgeCommit({ ...cases, pairs: Math.floor(still / 4) + 1 }, strange), { ok: false });
  const missing = idle();
  missing.next[0] = Number.NaN;
  t.match(judgeCommit(cases, missing), { ok: false, reason: /pair 0 .*vertex 0: NaN was written/ });
  const signs = cases.x.findIndex((value, k) => Object.is(value, -0) && cases.alpha[Math.floor(k / 3)] === 0);
  t.ok(signs >= 0, 'there are zeros with a sign to copy');
});
