/** The momentum of sweeps (accelerated-sweeps.ts). */
export interface MomentumArrays {
  readonly y: Float32Array;
  /** uint32[count] vertices of rows that act or have acted */
  readonly touched: Uint32Array;
  /** float32[3·count] for these: y after the previous sweep; y at the beginning of the sweep */
  readonly lastY: Float32Array;
  readonly fromY: Float32Array;
  /** float64[chunks] ⟨y_from − y, y − y_last⟩ by chunk */
  readonly sums: Float64Array;
  /** float64, see {@link MOMENTUM} */
  readonly momentum: Float64Array;
}

/** Numbers of a momentum. */
export const MOMENTUM = {
  /** sweeps since its beginning */
  steps: 0,
  /** β of the multipliers after the last sweep */
  beta: 1,
  /** 1 = it has just been restarted */
  isNew: 2,
  /** bound on β */
  most: 3,
  words: 4,
} as const;

/** Multipliers of edges, strained elements and contacts, now and after the previous sweep. */
interface MultiplierArrays {
  readonly momentum: Float64Array;
  readonly push: Float32Array;
  readonly lastPush: Float32Array;
  readonly actingEdges: Uint32Array;
  readonly strainPush: Float32Array;
  readonly lastStrainPush: Float32Array;
  readonly actingStrains: Uint32Array;
  readonly lambda: Float32Array;
  readonly lastLambda: Float32Array;
  readonly acting: Uint32Array;
}

function betaOf(momentum: Float64Array): number {
  const steps = momentum[MOMENTUM.steps];
  return Math.min(momentum[MOMENTUM.most], steps / (steps + 3));
}

/** y ← y + β (y − y_last) for a range of touched vertices, and the values that the next sweep needs. */
export function addMomentum(arrays: MomentumArrays, chunk: number, first: number, end: number): void {
  const { y, touched, lastY, fromY, sums, momentum } = arrays;
  const beta = betaOf(momentum);
  let sum = 0;
  for (let n = first, q = 3 * first; n < end; n++, q += 3) {
    const k = 3 * touched[n];
    for (let c = 0; c < 3; c++) {
      const now = y[k + c];
      const by = now - lastY[q + c];
      sum += (fromY[q + c] - now) * by;
      const ahead = Math.fround(now + beta * by);
      y[k + c] = ahead;
      fromY[q + c] = ahead;
      lastY[q + c] = now;
    }
  }
  sums[chunk] = sum;
}

/**
 * Restarts the momentum if it points away from the motion of the sweep. The sums of chunks are added in their order.
 */
export function decideMomentum({ sums, momentum }: MomentumArrays, firstChunk: number, endChunk: number): void {
  let sum = 0;
  for (let chunk = firstChunk; chunk < endChunk; chunk++) sum += sums[chunk];
  const steps = momentum[MOMENTUM.steps];
  const isNew = sum > 0;
  momentum[MOMENTUM.beta] = isNew ? 0 : betaOf(momentum);
  momentum[MOMENTUM.isNew] = isNew ? 1 : 0;
  momentum[MOMENTUM.steps] = isNew ? 1 : steps + 1;
}

/** Undoes the momentum after a restart: z + β (z − z_last) with β = 0, which is z unless numbers have overflowed. */
export function stay({ y, touched, lastY, fromY, momentum }: MomentumArrays, first: number, end: number): void {
  if (momentum[MOMENTUM.isNew] === 0) return;
  for (let n = first, q = 3 * first; n < end; n++, q += 3) {
    const k = 3 * touched[n];
    for (let c = 0; c < 3; c++) {
      const now = lastY[q + c];
      y[k + c] = now + 0 * (y[k + c] - now);
      fromY[q + c] = y[k + c];
    }
  }
}

/** c ← c + β (c − c_last) of a range of the edges that act. */
export function extrapolatePushes(arrays: MultiplierArrays, first: number, end: number): void {
  const { momentum, push, lastPush, actingEdges } = arrays;
  const beta = momentum[MOMENTUM.beta];
  for (let a = first; a < end; a++) {
    const q = 3 * actingEdges[a];
    for (let c = q; c < q + 3; c++) {
      const now = push[c];
      push[c] = now + beta * (now - lastPush[c]);
      lastPush[c] = now;
    }
  }
}

/** Λ ← Λ + β (Λ − Λ_last) of a range of the elements with strain limits that act. */
export function extrapolateStrainPushes(arrays: MultiplierArrays, first: number, end: number): void {
  const { momentum, strainPush: push, lastStrainPush: last, actingStrains } = arrays;
  const beta = momentum[MOMENTUM.beta];
  for (let a = first; a < end; a++) {
    const q = 18 * actingStrains[a];
    for (let k = q; k < q + 18; k++) {
      const now = push[k];
      push[k] = now + beta * (now - last[k]);
      last[k] = now;
    }
  }
}

/** λ ← λ + β (λ − λ_last) of a range of the contacts that act; a negative λ is projected by the next sweep. */
export function extrapolateLambdas(arrays: MultiplierArrays, first: number, end: number): void {
  const { momentum, lambda, lastLambda, acting } = arrays;
  const beta = momentum[MOMENTUM.beta];
  for (let a = first; a < end; a++) {
    const r = acting[a];
    const now = lambda[r];
    lambda[r] = now + beta * (now - lastLambda[r]);
    lastLambda[r] = now;
  }
}
