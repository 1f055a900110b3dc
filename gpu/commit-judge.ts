import type { CommitCases } from './commit-cases.js';
import { PROOF_POINTS } from './proof-cases.js';

/** u for devices whose rounding direction WGSL leaves open */
const U = 2 ** -23;
/** x + α (y − x): a difference, a product and a sum, each off by at most u of what it gives; one u to spare. */
const WRITE_ERROR = 4 * U;
/** r (1 − α): a difference and a product; one u to spare */
const RESIDUAL_ERROR = 3 * U;
/** A limit kept by this much, in units of e, is kept whatever the check's rounding: it may not be refused. */
const SURE_MARGIN = 3;

/** What memory holds after write, check and commit. */
export interface CommitAnswer {
  /** float32[3·V] */
  readonly next: Float32Array;
  readonly x: Float32Array;
  /** uint32[V] bits of α, 0 where the vertex was sent back */
  readonly alphaBits: Uint32Array;
  /** float32[V], 1 before */
  readonly residual: Float32Array;
}

export interface CommitVerdict {
  readonly ok: boolean;
  readonly reverted: number;
  readonly reason?: string;
}

/** Judges in double precision, where differences and products of float32 are exact or nearly so. */
export function judgeCommit(cases: CommitCases, answer: CommitAnswer): CommitVerdict {
  let reverted = 0;
  let moved = 0;
  for (let v = 0; v < PROOF_POINTS * cases.pairs; v++) {
    const objection = objectTo(cases, answer, v);
    if (objection !== undefined) {
      const pair = Math.floor(v / PROOF_POINTS);
      const reason = `commit, pair ${pair} (${cases.labelOf(pair)}), vertex ${v % PROOF_POINTS}: ${objection}`;
      return { ok: false, reverted, reason };
    }
    if (cases.alpha[v] === 0) continue;
    if (answer.alphaBits[v] === 0) reverted++;
    else moved++;
  }
  // Either verdict must occur, or the questions were no questions on this device.
  if (reverted === 0 || moved === 0)
    return { ok: false, reverted, reason: `commit: ${moved} moved, ${reverted} did not` };
  return { ok: true, reverted };
}

function objectTo(cases: CommitCases, answer: CommitAnswer, v: number): string | undefined {
  const written = objectToWritten(cases, answer, v);
  if (written !== undefined) return written;
  const alpha = cases.alpha[v];
  const isBack = answer.alphaBits[v] === 0;
  if (alpha === 0 && !isBack) return 'it was not to move, and has an α';
  for (let k = 3 * v; k < 3 * v + 3; k++) {
    const expected = isBack ? cases.x[k] : answer.next[k];
    if (!Object.is(answer.x[k], expected)) return `${answer.x[k]} was committed instead of ${expected}`;
  }
  const objection = alpha === 0 ? undefined : objectToVerdict(cases, answer, v, isBack);
  return objection ?? objectToResidual(cases, answer, v, isBack ? 0 : alpha);
}

function objectToWritten({ x, y, alpha }: CommitCases, { next }: CommitAnswer, v: number): string | undefined {
  for (let k = 3 * v; k < 3 * v + 3; k++) {
    if (alpha[v] === 0 || alpha[v] === 1) {
      const copied = alpha[v] === 0 ? x[k] : y[k];
      if (!Object.is(next[k], copied)) return `${next[k]} was written where ${copied} was to be copied`;
      continue;
    }
    const way = alpha[v] * (y[k] - x[k]);
    const allowed = WRITE_ERROR * (Math.abs(x[k]) + Math.abs(way));
    // Written so that a NaN fails.
    if (!(Math.abs(next[k] - (x[k] + way)) <= allowed)) return `${next[k]} was written instead of ${x[k] + way}`;
  }
  return undefined;
}

function objectToVerdict(cases: CommitCases, { next }: CommitAnswer, v: number, isBack: boolean): string | undefined {
  const pair = Math.floor(v / PROOF_POINTS);
  const isSideA = v % PROOF_POINTS === 0;
  let height = 0;
  let spread = 0;
  let isInBox = true;
  for (let c = 0; c < 3; c++) {
    const at = next[3 * v + c];
    const term = cases.normals[3 * pair + c] * (at - cases.x[12 * pair + c]);
    height += term;
    spread += Math.abs(term);
    isInBox &&= at >= cases.box[6 * v + c] && at <= cases.box[6 * v + 3 + c];
  }
  const room = isSideA ? height - cases.low[pair] : cases.high[pair] - height;
  if (!isBack) {
    if (!isInBox) return 'it left its box';
    // Sums of three doubles: exact but for their last bits, which the device's own e covers a thousand times.
    if (!(room >= 0)) return `it broke its half-space by ${-room}`;
  } else if (isInBox && room > SURE_MARGIN * Math.max(cases.error[pair], 8 * U * spread)) {
    return `it was sent back though it keeps its half-space by ${room}`;
  }
  return undefined;
}

function objectToResidual({ x, y }: CommitCases, { residual, x: now }: CommitAnswer, v: number, alpha: number) {
  const isThere = [0, 1, 2].every((c) => now[3 * v + c] === y[3 * v + c]);
  const expected = isThere ? 0 : 1 - alpha;
  if (Math.abs(residual[v] - expected) <= RESIDUAL_ERROR) return undefined;
  return `its residual is ${residual[v]} instead of ${expected} (it started at ${x[3 * v]}, …)`;
}
