/**
 * Isotropic materials as functions ψ(σ) of the principal stretches σ = (σ₁ … σ_d): d = 2 for a membrane, d = 3 for a
 * solid. Their second derivative in the deformation gradient F = U·diag(σ)·Vᵀ has known eigenvectors (Smith et al.
 * 2019): d scaling modes u_i⊗v_i with the matrix ψ_ij, and for every i < j a symmetric ("flip") and an antisymmetric
 * ("twist") mode with
 *
 *     flip_ij = (ψ_i − ψ_j) / (σ_i − σ_j)        twist_ij = (ψ_i + ψ_j) / (σ_i + σ_j)
 *
 * In addition, a membrane has the modes n⊗v_i out of its plane, with ψ_i / σ_i.
 */
export interface Material {
  /** energy density, J/m² for a membrane, J/m³ for a solid */
  energy(s: Float64Array): number;
  /** writes ψ_i */
  gradient(s: Float64Array, out: Float64Array): void;
  /** writes ψ_ij, row by row */
  hessian(s: Float64Array, out: Float64Array): void;
  flip(s: Float64Array, i: number, j: number): number;
  twist(s: Float64Array, i: number, j: number): number;
  /** ψ_i / σ_i */
  normal(s: Float64Array, i: number): number;
}

/** Lamé's parameters, N/m for a membrane, Pa for a solid. */
export interface Lame {
  readonly mu: number;
  readonly lambda: number;
}

/** @param young Pa  @param poisson below 0.5 */
export const lameOfSolid = (young: number, poisson: number): Lame => ({
  mu: young / (2 * (1 + poisson)),
  lambda: (young * poisson) / ((1 + poisson) * (1 - 2 * poisson)),
});

/** Plane stress: a thin sheet gets thinner when it is stretched. @param stiffness Young's modulus × thickness, N/m */
export const lameOfMembrane = (stiffness: number, poisson: number): Lame => ({
  mu: stiffness / (2 * (1 + poisson)),
  lambda: (stiffness * poisson) / (1 - poisson * poisson),
});

function sum(s: Float64Array): number {
  let total = 0;
  for (let i = 0; i < s.length; i++) total += s[i]!;
  return total;
}

function sumOfSquares(s: Float64Array): number {
  let total = 0;
  for (let i = 0; i < s.length; i++) total += s[i]! * s[i]!;
  return total;
}

/** Quotients by smaller stretches are evaluated at this one, so that no eigenvalue grows without bound. */
const SMALLEST_STRETCH = 1e-6;

/** ψ = μ/4 Σ(σ_i² − 1)² + λ/8 (Σσ_i² − d)², St. Venant and Kirchhoff. */
export class StVenantKirchhoff implements Material {
  constructor(private readonly lame: Lame) {}

  energy(s: Float64Array): number {
    const { mu, lambda } = this.lame;
    const strain = s.reduce((total, value) => total + (value * value - 1) ** 2, 0);
    return (mu / 4) * strain + (lambda / 8) * (sumOfSquares(s) - s.length) ** 2;
  }

  gradient(s: Float64Array, out: Float64Array): void {
    for (let i = 0; i < s.length; i++) out[i] = s[i]! * this.normal(s, i);
  }

  hessian(s: Float64Array, out: Float64Array): void {
    const { mu, lambda } = this.lame;
    const d = s.length;
    for (let i = 0; i < d; i++) {
      for (let j = 0; j < d; j++) {
        const own = i === j ? 2 * mu * s[i]! ** 2 + this.normal(s, i) : 0;
        out[d * i + j] = own + lambda * s[i]! * s[j]!;
      }
    }
  }

  flip(s: Float64Array, i: number, j: number): number {
    return this.lame.mu * s[j]! * (s[i]! + s[j]!) + this.normal(s, i);
  }

  twist(s: Float64Array, i: number, j: number): number {
    return this.lame.mu * s[j]! * (s[j]! - s[i]!) + this.normal(s, i);
  }

  normal(s: Float64Array, i: number): number {
    const { mu, lambda } = this.lame;
    return mu * (s[i]! ** 2 - 1) + (lambda / 2) * (sumOfSquares(s) - s.length);
  }
}

/** ψ = μ Σ(σ_i − 1)² + λ/2 (Σσ_i − d)², the co-rotational linear model. */
export class CoRotational implements Material {
  constructor(private readonly lame: Lame) {}

  energy(s: Float64Array): number {
    const strain = s.reduce((total, value) => total + (value - 1) ** 2, 0);
    return this.lame.mu * strain + (this.lame.lambda / 2) * (sum(s) - s.length) ** 2;
  }

  gradient(s: Float64Array, out: Float64Array): void {
    const pressure = this.lame.lambda * (sum(s) - s.length);
    for (let i = 0; i < s.length; i++) out[i] = 2 * this.lame.mu * (s[i]! - 1) + pressure;
  }

  hessian(s: Float64Array, out: Float64Array): void {
    const d = s.length;
    out.fill(this.lame.lambda, 0, d * d);
    for (let i = 0; i < d; i++) out[d * i + i]! += 2 * this.lame.mu;
  }

  flip(_s: Float64Array, _i: number, _j: number): number {
    return 2 * this.lame.mu;
  }

  twist(s: Float64Array, i: number, j: number): number {
    const { mu, lambda } = this.lame;
    const total = s[i]! + s[j]!;
    return (2 * mu * (total - 2) + 2 * lambda * (sum(s) - s.length)) / Math.max(total, SMALLEST_STRETCH);
  }

  normal(s: Float64Array, i: number): number {
    const { mu, lambda } = this.lame;
    return (2 * mu * (s[i]! - 1) + lambda * (sum(s) - s.length)) / Math.max(s[i]!, SMALLEST_STRETCH);
  }
}
