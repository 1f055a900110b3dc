// One element with strain limits (src/solver/strain/elements.ts), its deformation gradient and its principal strains.
//
//   F = Σ_k (y_k − y_0) b_kᵀ = D Bᵀ,   D = [y_1 − y_0, y_2 − y_0, y_3 − y_0],   B = [b_1, b_2, b_3]
//
// The kernel that includes it says where a vertex is: pointAt(v, which), `which` telling two states apart.
// #include "strain/eigen.wgsl"

struct StrainElement {
  // the last one of a triangle is NO_CORNER
  corners: vec4u,
  b: mat3x3f,
  // s_min, 0 = none; s_max, UNLIMITED = none
  least: f32,
  most: f32,
  kappa: f32,
  // ℓ, which turns a strain into a length
  length: f32,
  component: u32,
  colour: u32,
}

fn isTriangle(element: StrainElement) -> bool {
  return element.corners.w == NO_CORNER;
}

// Corners that an element has; its first one stands in for one that it has not.
fn cornerCount(element: StrainElement) -> u32 {
  return select(4u, 3u, isTriangle(element));
}

fn deformationOf(element: StrainElement, which: u32) -> mat3x3f {
  let o = pointAt(element.corners.x, which);
  var d: mat3x3f;
  for (var k = 1u; k < cornerCount(element); k++) {
    d[k - 1u] = pointAt(element.corners[k], which) - o;
  }
  return d * transpose(element.b);
}

// Eigenvalues and vectors of FᵀF.
fn eigenOfGram(f: mat3x3f) -> Eigen {
  let gram = transpose(f) * f;
  return eigenOf(vec3f(gram[0].x, gram[1].y, gram[2].z), vec3f(gram[2].y, gram[2].x, gram[1].x));
}

// The smallest and the largest singular value of F, |F v| with the eigenvectors v of FᵀF; the smallest of a tetrahedron is
// negative where it is turned inside out. Mirrors principalStrains (src/solver/strain/deformation.ts).
fn principalStrains(f: mat3x3f, ofTriangle: bool) -> vec2f {
  let eigen = eigenOfGram(f);
  var least = UNLIMITED;
  var most = 0.0;
  // Two or three, which the compiler does not know.
  for (var i = 0u; i < select(3u, 2u, ofTriangle); i++) {
    let strain = length(f * eigen.vectors[i]);
    least = min(least, strain);
    most = max(most, strain);
  }
  return vec2f(select(least, -least, !ofTriangle && determinant(f) < 0.0), most);
}

// What strains are beyond the limits of the element: above, and below. What the rounding of F makes of a strain is none.
fn excessOf(element: StrainElement, f: mat3x3f) -> vec2f {
  let strains = principalStrains(f, isTriangle(element));
  let over = max(0.0, strains.y - (1.0 + STRAIN_ROUNDING) * element.most);
  let under = max(0.0, (1.0 - STRAIN_ROUNDING) * element.least - strains.x);
  return vec2f(over, select(0.0, under, element.least > 0.0));
}

// Relative. An entry of F errs by less than 5u Σ |d_k| |b_k|, u = 2⁻²³, the norm of F by three times that; of an element whose
// heights are not far from its edges the sum is about twice a strain. The square root of a square errs by less.
const STRAIN_ROUNDING: f32 = 4e-6;
