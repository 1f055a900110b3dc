// A cloth of springs falls on a ball that rises: `node falling-cloth.mjs http://127.0.0.1:8080`
import assert from 'node:assert';
import { Client } from '@interstice-ccd/interstice/client';

const [N, SIZE, RADIUS, FRAMES, SUBSTEPS, DT] = [21, 1, 0.25, 60, 20, 1 / 60];
const [RINGS, SECTORS] = [8, 12];
const [x, triangles, springs] = [[], [], []];
const spring = (a, b) => springs.push([a, b, Math.hypot(...[0, 1, 2].map((k) => x[3 * a + k] - x[3 * b + k]))]);
for (let i = 0; i < N * N; i++)
  x.push(((i % N) / (N - 1) - 0.5) * SIZE, 0.3, (Math.floor(i / N) / (N - 1) - 0.5) * SIZE);
for (let row = 0; row < N; row++) {
  for (let col = 0; col < N; col++) {
    const a = row * N + col;
    if (col + 1 < N) spring(a, a + 1);
    if (row + 1 < N) spring(a, a + N);
    if (col + 1 === N || row + 1 === N) continue;
    spring(a, a + N + 1);
    spring(a + 1, a + N);
    triangles.push(a, a + N, a + 1, a + 1, a + N, a + N + 1);
  }
}
const cloth = N * N;
for (let ring = 0; ring <= RINGS; ring++) {
  for (let sector = 0; sector < SECTORS; sector++) {
    // The ball is open at its poles.
    const [up, around] = [(0.05 + (0.9 * ring) / RINGS) * Math.PI, (2 * Math.PI * sector) / SECTORS];
    x.push(RADIUS * Math.sin(up) * Math.cos(around), RADIUS * Math.cos(up), RADIUS * Math.sin(up) * Math.sin(around));
    const [a, b] = [cloth + ring * SECTORS + sector, cloth + ring * SECTORS + ((sector + 1) % SECTORS)];
    if (ring < RINGS) triangles.push(a, b, a + SECTORS, b, b + SECTORS, a + SECTORS);
  }
}
const mesh = { vertexCount: x.length / 3, triangles: Uint32Array.from(triangles) };
mesh.kinematic = new Uint8Array(mesh.vertexCount).fill(1, cloth);
let state = Float32Array.from(x);
const v = new Float32Array(3 * cloth);
const session = await new Client(process.argv[2] ?? 'http://127.0.0.1:8080').session(mesh, state);
for (let frame = 1; frame <= FRAMES; frame++) {
  const target = state.slice();
  for (let s = 0, h = DT / SUBSTEPS; s < SUBSTEPS; s++) {
    for (const [a, b, rest] of springs) {
      const d = [0, 1, 2].map((k) => target[3 * b + k] - target[3 * a + k]);
      const push = h * 2e4 * (1 - rest / Math.hypot(...d));
      for (let k = 0; k < 3; k++)
        [v[3 * a + k], v[3 * b + k]] = [v[3 * a + k] + push * d[k], v[3 * b + k] - push * d[k]];
    }
    for (let i = 0; i < v.length; i++) target[i] += h * (v[i] = v[i] * 0.995 - (i % 3 === 1 ? 9.81 * h : 0));
  }
  for (let i = 3 * cloth + 1; i < x.length; i += 3) target[i] = x[i] + 0.1 * Math.sin((Math.PI * frame) / FRAMES);
  const { positions, report } = await session.step(target);
  for (let i = 0; i < v.length; i++) v[i] = (positions[i] - state[i]) / DT;
  state = positions;
  if (frame % 10 === 0) console.log(`frame ${frame} ${report.status}, ${report.overlongEdges} overlong edges`);
}
assert((await session.check()).intersectionFree, 'the last state is free');
for (let i = 0; i < v.length; i += 3) {
  assert(Math.hypot(...state.subarray(i, i + 3)) > 0.9 * RADIUS, 'nothing passed through the ball');
}
console.log(`${FRAMES} frames, session recreated ${session.recreations} times`);
await session.close();
