import type { Forward, ForwardInput } from '../../src/solver/cpu/forward.js';
import type { PairSet } from '../../src/solver/cpu/pair-set.js';

const f = Math.fround;

/** All pairs active, everything that differs from its target moving, and no guard but a radius that never binds. */
export function inputOf(
  pairs: PairSet,
  x: Float32Array,
  y: Float32Array,
  rest: Partial<ForwardInput> = {},
): ForwardInput {
  return {
    x,
    y,
    pairs,
    active: Uint32Array.from({ length: pairs.count }, (_, p) => p),
    activeCount: pairs.count,
    moving: Uint8Array.from({ length: x.length / 3 }, (_, v) =>
      [0, 1, 2].some((c) => x[3 * v + c] !== y[3 * v + c]) ? 1 : 0,
    ),
    step: 0,
    rule: 'PLANAR',
    gamma: f(0.9),
    delta: f(0.1),
    floor: f(0.001),
    box: undefined,
    radius: 1e30,
    ...rest,
  };
}

export const bitsOf = (x: Float32Array, v: number): number[] => [...new Uint32Array(x.slice(3 * v, 3 * v + 3).buffer)];

/** What α says must be what happened, bit for bit. */
export function checkCommit(
  t: { fail(message: string): unknown },
  forward: Forward,
  before: Float32Array,
  input: ForwardInput,
): void {
  const { x, y, moving } = input;
  let largest = 0;
  for (let v = 0; v < moving.length; v++) {
    const a = forward.alpha[v];
    const source = moving[v] === 0 || a === 0 ? before : a === 1 ? y : undefined;
    if (source && bitsOf(x, v).some((word, c) => word !== bitsOf(source, v)[c]))
      t.fail(`vertex ${v}: α = ${a}, but no copy`);
    if (!(a >= 0 && a <= 1)) t.fail(`vertex ${v}: α = ${a}`);
    if (a > forward.alphaGuard[v]) t.fail(`vertex ${v}: α = ${a} passes its guard ${forward.alphaGuard[v]}`);
    const move = [0, 1, 2].map((c) => x[3 * v + c] - before[3 * v + c]);
    largest = Math.max(largest, Math.hypot(...move));
    if (source) continue;
    for (let c = 0; c < 3; c++) {
      const k = 3 * v + c;
      if (x[k] !== f(before[k] + f(a * f(y[k] - before[k])))) t.fail(`vertex ${v} is not at x + αD`);
    }
  }
  if (!(forward.largestMove >= largest)) t.fail(`a move of ${largest}, said to be ${forward.largestMove} at most`);
  if (!(forward.largestMove <= largest * (1 + 1e-5)))
    t.fail(`largestMove ${forward.largestMove} is far above ${largest}`);
}
