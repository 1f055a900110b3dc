import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import type { KernelFile } from '../../../gpu/kernels/table.js';
import { findJoinedObjection } from '../../../gpu/proof/joined-proof.js';
import { loadKernel } from '../../../gpu/shaders.js';
import { openTestDevice } from '../../support/gpu.js';
import { shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, and those with a fault each time.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

/** What a driver or a careless hand could make of a joined kernel, and what the proof says to it. */
const FAULTS: readonly {
  readonly name: string;
  readonly file: KernelFile;
  readonly from: string;
  readonly to: string;
  readonly verdict: RegExp;
}[] = [
  {
    name: 'shares of a box are rounded otherwise',
    file: 'joined/slide-and-guard',
    from: '(hi - here) / (to - here) * FACE_SHARE',
    to: '(hi - here) * (FACE_SHARE / (to - here))',
    verdict: /slideAndGuard: motions/,
  },
  {
    name: 'no vertex slides',
    file: 'joined/slide-and-guard',
    from: '    slideVertex(i);',
    to: '',
    verdict: /slideAndGuard: y/,
  },
  {
    name: 'vertices slide before their candidates are in order',
    file: 'joined/slide-and-guard',
    from: 'if (child + 1u < end && pairOf(contacts[first + child + 1u]) > pairOf(contacts[first + child])) {',
    to: 'if (false) {',
    verdict: /slideAndGuard: y/,
  },
  {
    name: 'what a vertex may approach is summed otherwise',
    file: 'joined/slide-and-guard',
    from: 'approach - parameters.gamma * slack - room',
    to: 'approach - (parameters.gamma * slack + room)',
    verdict: /slideAndGuard: y/,
  },
  {
    name: 'a vertex out of range keeps its y',
    file: 'joined/slide-and-guard',
    from: 'if (!isNumber) {',
    to: 'if (false) {',
    verdict: /slideAndGuard: y/,
  },
  {
    name: 'the radius guards nothing',
    file: 'joined/slide-and-guard',
    from: 'if (travel > cap) {',
    to: 'if (false) {',
    verdict: /slideAndGuard: motions/,
  },
  {
    name: 'a vertex that stays counts as moving',
    file: 'joined/slide-and-guard',
    from: 'select(0u, MOVING, isMoving)',
    to: 'MOVING',
    verdict: /slideAndGuard: vertexStep/,
  },
  {
    name: 'r is rounded otherwise, which the judge allows',
    file: 'joined/commit-and-watch',
    from: 'r * (1.0 - bitcast<f32>(atomicLoad(&vertexStep[i].alpha)))',
    to: 'r - r * bitcast<f32>(atomicLoad(&vertexStep[i].alpha))',
    verdict: /commitAndWatch does not leave the bytes that commit leaves/,
  },
  {
    name: 'the commit ignores the box',
    file: 'joined/commit-and-watch',
    from: ' || leavesBox(i, written)',
    to: '',
    verdict: /left its box/,
  },
  {
    name: 'the counters of stopped steps never begin anew',
    file: 'joined/slide-and-guard',
    from: 'if (control.clearsStopped == 1u) {',
    to: 'if (false) {',
    verdict: /slideAndGuard: progress/,
  },
  {
    name: 'a vertex counts once for each pair that bounds it',
    file: 'joined/commit-and-watch',
    from: 'if (atomicExchange(&progress[i].relevant, control.clock) == control.clock) {',
    to: 'if (false) {',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'only the unfinished vertex counts, not those that bound it',
    file: 'joined/commit-and-watch',
    from: 'if (limiter != NO_PAIR) {',
    to: 'if (false) {',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'a vertex that the check returns counts as having moved',
    file: 'joined/commit-and-watch',
    from: 'select(alpha, 0u, isBack)',
    to: 'alpha',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'a vertex that its box returns counts as having moved',
    file: 'joined/commit-and-watch',
    from: ' || leavesBox(i, writtenOf(i)))',
    to: ')',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'stopped steps are not counted further',
    file: 'joined/commit-and-watch',
    from: 'progress[i].stopped = stopped;',
    to: '',
    verdict: /commitAndWatch: progress/,
  },
  {
    name: 'a vertex in the middle of its motion needs no new box',
    file: 'joined/commit-and-watch',
    from: 'isMoving && (isUnfinished || own.guard < 1.0)',
    to: 'isMoving && isUnfinished',
    verdict: /commitAndWatch: (control|wanted)/,
  },
  {
    name: 'fixed vertices are not watched',
    file: 'joined/commit-and-watch',
    from: 'if (!isUnfinished && inverseMass[i] == 0.0) {',
    to: 'if (false) {',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'stuck vertices do not become stuck',
    file: 'joined/commit-and-watch',
    from: 'progress[i].stuck = stuck;',
    to: '',
    verdict: /commitAndWatch: progress/,
  },
  {
    name: 'a window keeps its start',
    file: 'joined/commit-and-watch',
    from: 'windowStart[k + c] = now;',
    to: '',
    verdict: /commitAndWatch: windowStart/,
  },
  {
    name: 'no vertex travels far enough',
    file: 'joined/commit-and-watch',
    from: 'atomicStore(&control.hasMoved, 1u);',
    to: '',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'every vertex travels far enough',
    file: 'joined/commit-and-watch',
    from: 'if (lengthOf(motion) > TRAVEL * parameters.delta) {',
    to: 'if (true) {',
    verdict: /commitAndWatch: control/,
  },
  {
    name: 'the sum of residuals has no high word',
    file: 'joined/commit-and-watch',
    from: 'if (before + part < before) {',
    to: 'if (false) {',
    verdict: /commitAndWatch: control/,
  },
];

if (!gpu?.kernels.has('slideAndGuard')) {
  const skip = options.skip ?? 'this adapter allows too few storage buffers';
  t.test('the proof of the joined kernels', { skip }, async () => undefined);
} else {
  const { device } = gpu.memory;

  t.test('this adapter passes', async (t) => {
    t.equal(await findJoinedObjection(device, gpu.kernels), undefined);
  });

  t.test('planted faults are detected', async (t) => {
    const planted = shareOf(FAULTS, 3).map(({ name }) => name);
    for (const { name, file, from, to, verdict } of FAULTS) {
      const text = loadKernel(file);
      t.equal(text.split(from).length, 2, `${name}: the text occurs once`);
      if (!planted.includes(name)) continue;
      const load = (wanted: string) => (wanted === file ? text.replace(from, to) : loadKernel(wanted));
      const broken = await KernelSet.compile(device, ['joined'], { load });
      t.match(await findJoinedObjection(device, gpu.kernels.with(broken)), verdict, name);
    }
  });
}
