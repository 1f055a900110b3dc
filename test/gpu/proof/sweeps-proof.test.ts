import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { ALONE_STAGES, type KernelFile, type KernelStage } from '../../../gpu/kernels/table.js';
import { proveSweeps, type SweepWay, type SweepWays } from '../../../gpu/proof/sweeps-proof.js';
import { loadKernel } from '../../../gpu/shaders.js';
import { openTestDevice } from '../../support/gpu.js';
import { shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const ALL: SweepWays<SweepWay> = { rounds: true, lists: true, small: true, few: true, listed: true, chosen: true };
const WAYS = ['rounds', 'lists', 'small', 'few', 'listed', 'chosen'] as const satisfies readonly SweepWay[];

/** Kernels in which something is computed otherwise than in the others, and the way that is lost. */
const FAULTS: readonly {
  readonly file: KernelFile;
  readonly text: string;
  readonly by: string;
  readonly lost: SweepWay;
}[] = [
  { file: 'small/sweeps', text: 'return sum > 0.0;', by: 'return sum < 0.0;', lost: 'small' },
  { file: 'few/sweeps', text: 'sum += own[k];', by: 'sum -= own[k];', lost: 'few' },
  {
    file: 'pull-back/warm-sweep',
    text: 'for (var n = first; n < count;',
    by: 'for (var n = first; n + 1u < count;',
    lost: 'rounds',
  },
  {
    file: 'backward/sweep',
    text: 'runRound(sweepRange.round, group',
    by: 'runRound(sweepRange.round + 1u, group',
    lost: 'rounds',
  },
  // Whole dispatches colour contacts of another round, and leave the last row out of the order.
  {
    file: 'pull-back/colours',
    text: 'passRound(round, first, WORKGROUP_SIZE',
    by: 'passRound(round + 1u, first, WORKGROUP_SIZE',
    lost: 'rounds',
  },
  {
    file: 'pull-back/colours',
    text: 'if (n < atomicLoad(&control.rowCount)) {\n    orderRow(n);',
    by: 'if (n + 1u < atomicLoad(&control.rowCount)) {\n    orderRow(n);',
    lost: 'rounds',
  },
  {
    file: 'pull-back/edge-limits',
    text: 'sweepColour(edgeRange.firstColour, linearIndex(group, groups, local)',
    by: 'sweepColour(edgeRange.firstColour, 1u + linearIndex(group, groups, local)',
    lost: 'lists',
  },
  // Edges at vertices that an edge has moved, those that contacts may move, and those of the first sweep are not looked at.
  { file: 'listed/sweeps', text: 'enlistAt(v, edgeColours[colour + 1u]);', by: '', lost: 'listed' },
  { file: 'listed/sweeps', text: 'touch(u32(ids[s]));', by: '', lost: 'listed' },
  {
    file: 'listed/open-step',
    text: 'if (edgePushOf(e, row, 0.0).change != 0.0) {',
    by: 'if (false) {',
    lost: 'listed',
  },
  // Vertices that only an edge moves count as at rest.
  { file: 'listed/sweeps', text: 'seeWhetherMoves(atomicLoad(&edgeLists[touchedAt(n)]));', by: '', lost: 'listed' },
  // A row that waits for another one does not, and the lists of vertices lie upon each other.
  { file: 'chosen/select', text: 'if (link(c) == 0u) {', by: 'if (link(c) < 2u) {', lost: 'chosen' },
  {
    file: 'chosen/select',
    text: 'reserveRoom(&control.listTop, ends.w)',
    by: 'reserveRoom(&control.listTop, ends.w / 2u)',
    lost: 'chosen',
  },
  // No list of candidates has room of its own, and rows are in no list of a vertex.
  {
    file: 'chosen/geometry',
    text: 'place = countCandidate(place);',
    by: 'place = min(0u, countCandidate(place));',
    lost: 'chosen',
  },
  { file: 'chosen/rows', text: '    listRow(n);', by: '', lost: 'chosen' },
  // Products and quotients are rounded otherwise.
  {
    file: 'few/sweeps',
    text: 'masses[s] * change * rowOf(row, s)',
    by: 'masses[s] * (change * rowOf(row, s))',
    lost: 'few',
  },
  {
    file: 'small/sweeps',
    text: '(1.0 - shortened / length) / both',
    by: '(1.0 - shortened / length) * (1.0 / both)',
    lost: 'small',
  },
  { file: 'listed/sweeps', text: 'old - c / (w.x + w.y)', by: 'old - c * (1.0 / (w.x + w.y))', lost: 'listed' },
  {
    file: 'listed/sweeps',
    text: 'masses[s] * change * rowOf(row, s)',
    by: 'masses[s] * (change * rowOf(row, s))',
    lost: 'listed',
  },
  // The volume form is the gap form.
  ...(['few/sweeps', 'small/sweeps', 'listed/sweeps', 'chosen/rows'] as const).map((file) => ({
    file,
    text: 'if (parameters.isVolume == 1u) {',
    by: 'if (false) {',
    lost: file.slice(0, file.indexOf('/')) as SweepWay,
  })),
  // That of two edges moves the wrong ones.
  {
    file: 'few/sweeps',
    text: 'return Jacobian(row.j0 - second, row.j1 + second,',
    by: 'return Jacobian(row.j0 + second, row.j1 - second,',
    lost: 'few',
  },
];

/** The ways of a device that lacks the kernels that whole sweeps, and few or many contacts, have for themselves. */
const WITHOUT: SweepWays<SweepWay> = { ...ALL, small: false, few: false, listed: false, chosen: false };
/** Those of an adapter that allows too few storage buffers for these kernels. */
const OF_ADAPTER = gpu?.kernels.has('sweepSmall') ? ALL : WITHOUT;

t.test('all variants of the sweeps agree on this adapter', options, async (t) => {
  if (!gpu) return;
  t.strictSame(await proveSweeps(gpu.memory.fork(), gpu.kernels, WAYS), OF_ADAPTER);
});

for (const { file, text, by, lost } of shareOf(FAULTS, 3)) {
  t.test(`a variant that disagrees is not used: ${file}`, options, async (t) => {
    if (!gpu) return;
    const stage = file.slice(0, file.indexOf('/')) as KernelStage;
    if ((ALONE_STAGES as readonly KernelStage[]).includes(stage) && !gpu.kernels.has('sweepSmall')) {
      return t.comment('this adapter allows too few storage buffers');
    }
    const { device } = gpu.memory;
    const load = (name: KernelFile): string => {
      const code = loadKernel(name, device.features.has('subgroups'));
      if (name !== file) return code;
      t.equal(code.split(text).length, 2, 'the text occurs once');
      return code.replace(text, by);
    };
    const broken = await KernelSet.compile(device, [stage], { load });
    const ways = await proveSweeps(gpu.memory.fork(), gpu.kernels.with(broken), WAYS);
    t.strictSame(ways, { ...OF_ADAPTER, [lost]: false });
  });
}

t.test('a device without a kernel does not use its variant', options, async (t) => {
  if (!gpu) return;
  const kernels = gpu.kernels.without(['sweepSmall', 'sweepFew', 'sweepListed', 'selectAlone']);
  t.strictSame(await proveSweeps(gpu.memory.fork(), kernels, WAYS), WITHOUT);
});
