import t, { type Test } from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { type KernelFile, type KernelStage, STEP_STAGES } from '../../../gpu/kernels/table.js';
import { findSharedHeightsObjection } from '../../../gpu/proof/heights-proof.js';
import { findSharedListObjection } from '../../../gpu/proof/lists-proof.js';
import { findSharedRunObjection } from '../../../gpu/proof/runs-proof.js';
import { findSharedObjection } from '../../../gpu/proof/shared-proof.js';
import { findSharedSweepObjection } from '../../../gpu/proof/sweeps-proof.js';
import { loadKernel } from '../../../gpu/shaders.js';
import { openTestDevice } from '../../support/gpu.js';
import { shareOf } from '../../support/share.js';

/** The proof that scenes in a convoy compute what they compute alone. That of the end of a step: commit-proof.test.ts. */

// A software driver compiles every kernel on first use, and those with a fault each time: minutes on a busy machine.
t.setTimeout(600_000);

/** Scenes of a convoy take turns on few workgroups. */
const IS_SOFTWARE = true;
const DIFFERS = /scene \d of 2 does not have the bytes that it has alone/;

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

/** What a compiler, or a careless hand, could make of a file where it is compiled for many scenes. */
interface Fault {
  readonly name: string;
  readonly file: KernelFile;
  readonly text: string;
  readonly by: string;
}

if (!gpu) t.test('the proof of kernels in a convoy', options, async () => undefined);
else {
  const { device } = gpu.memory;
  const sharedSmall = gpu.kernels.has('sweepSmall') ? [await KernelSet.loadShared(device, 'small')] : [];
  const steps = await KernelSet.loadShared(device, 'search', ...STEP_STAGES);
  const both = { alone: gpu.kernels, together: sharedSmall.reduce((all, small) => all.with(small), steps) };

  const compileFaulty = (t: Test, { name, file, text, by }: Fault): Promise<KernelSet> => {
    const stage = file.slice(0, file.indexOf('/')) as KernelStage;
    t.equal(loadKernel(file).split(text).length, 2, `${name}: the text occurs once`);
    const load = (wanted: string) => (wanted === file ? loadKernel(file).replace(text, by) : loadKernel(wanted));
    return KernelSet.compile(device, [stage], { load, isShared: true });
  };

  t.test('this adapter passes', async (t) => {
    t.equal(await findSharedObjection(device, both, IS_SOFTWARE), undefined);
  });

  t.test('heights of another scene or with other rounding are detected', async (t) => {
    const kernels = {
      alone: await KernelSet.load(device, 'proof'),
      together: await KernelSet.loadShared(device, 'proof'),
    };
    t.equal(await findSharedHeightsObjection(device, IS_SOFTWARE, kernels), undefined);
    const name = 'the sum is taken in another order, which the judge allows';
    const [text, by] = ['n.x * d.x + n.y * d.y + n.z * d.z', 'n.z * d.z + n.y * d.y + n.x * d.x'];
    const together = await compileFaulty(t, { name, file: 'proof/heights', text, by });
    t.match(await findSharedHeightsObjection(device, IS_SOFTWARE, { ...kernels, together }), DIFFERS, name);
    const { bindings } = kernels.together.get('proveHeights').shared!;
    const points = bindings.find((binding) => binding.name === 'points') as { stride: number };
    const { stride } = points;
    points.stride = Number.POSITIVE_INFINITY;
    t.match(
      await findSharedHeightsObjection(device, IS_SOFTWARE, kernels),
      /scene \d of 2 .*(off by|error bound)/,
      'points of another scene',
    );
    points.stride = stride;
  });

  t.test('lists that lack a pair are detected', async (t) => {
    const name = 'two threads get one place';
    const text = 'place = atomicAdd(counter, size);';
    const by = 'place = atomicAdd(counter, size) & 0xfffffffeu;';
    const together = await compileFaulty(t, { name, file: 'forward/list-bounded-pairs', text, by });
    t.match(await findSharedListObjection(device, together, IS_SOFTWARE), /lists: pair \d+ is|should not be/, name);
  });

  const SWEEP_FAULTS: readonly (Fault & { readonly verdict: RegExp })[] = [
    {
      name: 'a sum is taken in another order',
      file: 'backward/edges',
      text: '(row.x * d.x + row.y * d.y + row.z * d.z)',
      by: '(row.z * d.z + row.y * d.y + row.x * d.x)',
      verdict: /sweeps of Algorithm 1: scene \d of 2/,
    },
    {
      name: 'a limit of the pull-back is multiplied out',
      file: 'pull-back/edge-limits',
      text: 'f = (1.0 - shortened / length) / both;',
      by: 'f = (length - shortened) / (length * both);',
      verdict: /sweeps of the pull-back: scene \d of 2/,
    },
    {
      name: 'the same in one workgroup',
      file: 'small/sweeps',
      text: 'f = (1.0 - shortened / length) / both;',
      by: 'f = (length - shortened) / (length * both);',
      verdict: /sweeps of the pull-back in one workgroup: scene \d of 2/,
    },
    ...[
      { file: 'backward/sweep' as const, verdict: /sweeps of Algorithm 1 in the volume form: scene \d of 2/ },
      { file: 'pull-back/warm-sweep' as const, verdict: /sweeps of the pull-back in the volume form: scene \d of 2/ },
      { file: 'small/sweeps' as const, verdict: /in one workgroup in the volume form: scene \d of 2/ },
    ].map((where) => ({
      ...where,
      name: `no volume term in ${where.file}`,
      text: 'if (parameters.isVolume == 1u) {',
      by: 'if (false) {',
    })),
  ];

  t.test('sweeps with other rounding are detected', async (t) => {
    for (const fault of shareOf(SWEEP_FAULTS, 3)) {
      if (fault.file.startsWith('small/') && sharedSmall.length === 0) continue;
      const together = both.together.with(await compileFaulty(t, fault));
      const objection = await findSharedSweepObjection(device, { ...both, together }, IS_SOFTWARE);
      t.match(objection, fault.verdict, fault.name);
    }
  });

  t.test('faults that only whole runs reveal are detected', async (t) => {
    const faults: readonly Fault[] = [
      {
        name: 'shares of a gap are divided otherwise',
        file: 'forward/bound',
        text: 'share = (ua / larger) / (ua / larger + ub / larger);',
        // Several units in the last place off, since a driver may divide both ways alike.
        by: 'share = 0.999999 * ua / (ua + ub);',
      },
      {
        name: 'boxes grow too little',
        file: 'search/trust-boxes',
        text: 'max(at, end) + control.reach',
        by: 'max(at, end) + 0.9 * control.reach',
      },
      {
        name: 'the isotropic bound allows twice as much',
        file: 'forward/bound',
        text: 'select(0.5 * parameters.gamma * room, sliding, isPlanar)',
        by: 'select(parameters.gamma * room, sliding, isPlanar)',
      },
      { name: 'the radius guards nothing', file: 'forward/guard', text: 'if (travel > cap) {', by: 'if (false) {' },
    ];
    for (const fault of shareOf(faults, 2)) {
      const together = both.together.with(await compileFaulty(t, fault));
      const objection = await findSharedRunObjection(device, { ...both, together }, IS_SOFTWARE);
      t.match(objection, /whole runs: scene \d of 3 does not have the bytes that it has alone/, fault.name);
    }
  });
}
