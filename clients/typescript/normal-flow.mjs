// A torus grows until its hole is full, then shrinks to a flat tube: `node normal-flow.mjs http://127.0.0.1:8080`
import assert from 'node:assert';
import { Client } from '@interstice-ccd/interstice/client';

const [AROUND, ACROSS, RADIUS, TUBE, STEPS] = [36, 16, 1, 0.35, 10];
const [x, corners] = [[], []];
for (let i = 0; i < AROUND; i++) {
  for (let j = 0; j < ACROSS; j++) {
    const [along, across] = [(2 * Math.PI * i) / AROUND, (2 * Math.PI * j) / ACROSS];
    const r = RADIUS + TUBE * Math.cos(across);
    x.push(r * Math.cos(along), r * Math.sin(along), TUBE * Math.sin(across));
    const [k, l] = [((i + 1) % AROUND) * ACROSS, (j + 1) % ACROSS];
    corners.push(i * ACROSS + j, k + j, k + l, i * ACROSS + j, k + l, i * ACROSS + l);
  }
}
const triangles = Uint32Array.from(corners);

/** Area-weighted normals of the vertices: sums of the vector areas of their triangles, at length 1. */
function normalsOf(x) {
  const n = new Float32Array(x.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]);
    const [u, v] = [b, c].map((d) => [0, 1, 2].map((k) => x[d + k] - x[a + k]));
    for (let k = 0; k < 3; k++) {
      const area = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
      for (const vertex of [a, b, c]) n[vertex + k] += area;
    }
  }
  return n.map((value, i) => value / Math.hypot(...n.subarray(i - (i % 3), i - (i % 3) + 3)));
}

const client = new Client(process.argv[2] ?? 'http://127.0.0.1:8080');
for (const distance of [0.8, -0.5]) {
  let state = Float32Array.from(x);
  let [sum, gap] = [0, Infinity];
  const session = await client.session({ vertexCount: x.length / 3, triangles }, state);
  for (let step = 1; step <= STEPS; step++) {
    const n = normalsOf(state);
    const { positions, report } = await session.step(state.map((value, i) => value + (distance / STEPS) * n[i]));
    for (let i = 0; i < x.length; i++) sum += n[i] * (positions[i] - state[i]);
    gap = Math.min(gap, report.minDistance ?? Infinity);
    state = positions;
  }
  assert((await session.check()).intersectionFree, 'the last state is free');
  const mean = (sum / (x.length / 3)).toFixed(3);
  console.log(`asked for ${distance}, reached ${mean} on average, smallest gap ${gap.toPrecision(2)}`);
  await session.close();
}
