import t from 'tap';
import { type Fault, plantFault } from '../../../bench/prove/mutants/fault.js';
import { openAdapter } from '../../../gpu/device/adapter.js';
import { ANSWER, judgeHeights, proveHeights } from '../../../gpu/proof/heights-proof.js';
import { makeProofCases, PROOF_POINTS } from '../../../gpu/proof/proof-cases.js';
import { assembleKernel, type KernelReader, loadKernel, readKernel } from '../../../gpu/shaders.js';
import { LONG_SPREAD } from '../../../src/solver/constants.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import { shareOf } from '../../support/share.js';

// A software driver compiles every kernel with a fault anew: minutes on a busy machine.
t.setTimeout(600_000);

const opening = await openAdapter({ allowSoftware: true });
const { opened } = opening;
const needsAdapter =
  opened || process.env.INTERSTICE_REQUIRE_GPU === '1' ? {} : { skip: opening.reason ?? 'there is no adapter' };
t.teardown(() => opened?.close());

const HEIGHTS = 'gpu/kernels/common/heights.wgsl';
const LONG_HEIGHTS = 'gpu/kernels/common/long-heights.wgsl';

/** Faults of the functions that every kernel of the forward step calls, and what the proof says. */
const FAULTS: readonly { readonly name: string; readonly fault: Fault; readonly verdict: RegExp }[] = [
  {
    name: 'heights count as exact: e = 0',
    fault: { file: HEIGHTS, function: 'errorOf', body: 'return 0.0;' },
    verdict: /the error bound is 0 instead of/,
  },
  {
    name: 'e is half of what it must be',
    fault: { file: HEIGHTS, function: 'errorOf', body: 'return 0.5 * original_errorOf(spread);' },
    verdict: /the error bound is .* instead of/,
  },
  {
    name: 'terms cancel in e',
    fault: { file: HEIGHTS, function: 'spreadOf', body: 'return abs(heightOf(n, d));' },
    verdict: /the error bound is .* instead of/,
  },
  {
    name: 'a height multiplies before it subtracts',
    fault: {
      file: HEIGHTS,
      function: 'heightOf',
      body: 'let far = vec3f(4096.0); return original_heightOf(n, d + far) - original_heightOf(n, far);',
    },
    verdict: /pair \d+ \(.+\) as VT: point \d is off by/,
  },
  {
    name: 'a height ignores an axis',
    fault: { file: HEIGHTS, function: 'heightOf', body: 'return n.x * d.x + n.y * d.y;' },
    verdict: /point \d is off by/,
  },
  {
    name: 'edges count as a vertex and a triangle',
    fault: { file: HEIGHTS, search: 'lo = min(0.0, h1);', replacement: 'lo = 0.0;' },
    verdict: /as EE: lo is/,
  },
  {
    name: 'the last corner of a triangle is ignored',
    fault: { file: HEIGHTS, search: 'hi = max(h1, hi);', replacement: 'hi = max(h1, h2);' },
    verdict: /as VT: hi is/,
  },
  {
    name: 'the gap exceeds that of the heights',
    fault: { file: HEIGHTS, search: 'lo, hi, lo - hi,', replacement: 'lo, hi, 1.01 * abs(lo - hi),' },
    verdict: /the gap is/,
  },
  {
    name: 'heights of long pairs are those of float32, with the e of integers',
    fault: { file: LONG_HEIGHTS, function: 'longHeightOf', body: 'return heightOf(n, at - o);' },
    verdict: /tens of thousands of edges.* is off by/,
  },
  {
    name: 'the last bits of coordinates are lost',
    fault: {
      file: LONG_HEIGHTS,
      function: 'longHeightOf',
      body: 'return original_longHeightOf(n, at, floor(64.0 * o) / 64.0);',
    },
    verdict: /tens of thousands of edges.* is off by/,
  },
  {
    name: 'a sum of limbs is lost',
    fault: { file: LONG_HEIGHTS, search: '(dotOfLimbs(n1, low) >> 9u) + ', replacement: '' },
    verdict: /tens of thousands of edges.* is off by/,
  },
  {
    name: 'e of long pairs ignores the heights',
    fault: { file: LONG_HEIGHTS, search: ' + 2.0 * ERROR_FACTOR * height', replacement: '' },
    verdict: /the error bound is .* instead of/,
  },
];

if (!opened) t.test('the adapter proves its heights', needsAdapter, async (t) => t.fail(opening.reason));
else {
  const { device } = await opened.requestDevice();

  t.test('the adapter proves its heights', async (t) => {
    const proof = await proveHeights(device);
    t.ok(proof.ok, proof.reason ?? 'proved');
    t.ok(proof.worst <= 1 && proof.worst > 0, `worst error is ${proof.worst} of the bound`);
    t.comment(`${opened.description.adapter}: worst ${proof.worst.toFixed(4)} of the bound, ${proof.pairs} pairs`);
  });

  t.test('faults in the functions that run are detected', async (t) => {
    for (const { name, fault, verdict } of shareOf(FAULTS, 2)) {
      const read: KernelReader = (file) =>
        `gpu/kernels/${file}` === fault.file ? plantFault(readKernel(file), fault) : readKernel(file);
      const proof = await proveHeights(device, (kernel) => assembleKernel(kernel, read));
      t.equal(proof.ok, false, name);
      t.match(proof.reason, verdict);
    }
  });

  t.test('the proof calls the same file as the kernels of a step', async (t) => {
    const text = readKernel('common/heights.wgsl');
    for (const kernel of ['proof/heights', 'forward/bound', 'forward/check', 'forward/list-bounded-pairs']) {
      t.ok(loadKernel(kernel).includes(text), kernel);
    }
    const long = 'fn longHeightOf(';
    for (const kernel of ['proof/heights', 'forward/bound', 'forward/check', 'backward/geometry']) {
      t.ok(loadKernel(kernel).includes(long), kernel);
    }
    t.notMatch(
      readKernel('proof/heights.wgsl'),
      /fn (measure\w*Heights|\w*[hH]eightOf|spreadOf|\w*[eE]rrorOf)/,
      'it has no copy of its own',
    );
  });

  t.test('a kernel that does not compile is an error, not a proof', async (t) => {
    device.addEventListener('uncapturederror', (event) => event.preventDefault());
    await t.rejects(proveHeights(device, () => 'this is no WGSL'));
  });
}

t.test('the judge of heights', async (t) => {
  const cases = makeProofCases();
  const placeOf = (pair: number, kind: number) => ANSWER.WORDS * (PAIR_KINDS.length * pair + kind);
  /** The heights as an ideal device would give them: double precision, rounded once. */
  const ideal = () => {
    const answers = new Float32Array(ANSWER.WORDS * PAIR_KINDS.length * cases.pairs);
    for (let pair = 0; pair < cases.pairs; pair++) {
      const heights: number[] = [];
      const spreads: number[] = [];
      const extents: number[] = [];
      for (let k = 0; k < PROOF_POINTS; k++) {
        const terms = [0, 1, 2].map(
          (c) => cases.normals[3 * pair + c]! * (cases.points[12 * pair + 3 * k + c]! - cases.points[12 * pair + c]!),
        );
        heights.push(Math.fround(terms[0]! + terms[1]! + terms[2]!));
        spreads.push(Math.abs(terms[0]!) + Math.abs(terms[1]!) + Math.abs(terms[2]!));
        extents.push(
          [0, 1, 2].reduce(
            (sum, c) => sum + Math.abs(cases.points[12 * pair + 3 * k + c]! - cases.points[12 * pair + c]!),
            0,
          ),
        );
      }
      for (let kind = 0; kind < PAIR_KINDS.length; kind++) {
        const corners = CORNERS[kind]!;
        const own = [0, 1, 2, 3].map((slot) => heights[slot < corners ? slot : corners - 1]!);
        const lo = Math.min(...own.slice(0, SIDE_A[kind]));
        const hi = Math.max(...own.slice(SIDE_A[kind], corners));
        const coarse = 8 * 2 ** -23 * Math.max(...spreads.slice(0, corners)) + 2 ** -120;
        const height = Math.max(Math.abs(lo), Math.abs(hi));
        const isLong = coarse > 8 * 2 ** -23 * LONG_SPREAD && height < 72;
        const e = isLong
          ? 2 ** -16 + 2 ** -29 * Math.max(...extents.slice(0, corners)) + 16 * 2 ** -23 * height
          : coarse;
        answers.set([...own, lo, hi, lo - hi, e], placeOf(pair, kind));
      }
    }
    return answers;
  };
  const judged = (at: number, change: (value: number, answers: Float32Array) => number) => {
    const answers = ideal();
    answers[at] = change(answers[at]!, answers);
    return judgeHeights(cases, answers);
  };
  t.ok(judgeHeights(cases, ideal()).ok, 'accepts correctly rounded heights');
  const far = placeOf(2000, 0);
  const off = judged(far + 1, (height, answers) => height + 2 * answers[far + ANSWER.ERROR]!);
  t.match(off, { ok: false, reason: /pair 2000 \(small features.*point 1/ });
  t.equal(judged(7, () => Number.NaN).ok, false, 'NaN fails');
  const proud = judged(placeOf(5, 0) + ANSWER.ERROR, (e) => 0.5 * e);
  t.match(proud, { ok: false, reason: /error bound/ }, 'a bound that is too small fails');
  for (const [word, reason] of [
    [ANSWER.LO, /lo is/],
    [ANSWER.HI, /hi is/],
    [ANSWER.GAP, /the gap is/],
  ] as const) {
    t.match(
      judged(placeOf(9, 1) + word, (value) => value + 1),
      { ok: false, reason },
    );
  }
});
