import t from 'tap';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { PressureSolver } from '../../../src/solver/volume-impulses/pressure-solver.js';
import { Volumes } from '../../../src/solver/volume-impulses/volumes.js';
import { pseudoInverse, Zones } from '../../../src/solver/volume-impulses/zones.js';
import { type Random, seeded } from '../../support/random.js';

const points = (random: Random, count: number): Float64Array =>
  Float64Array.from({ length: 3 * count }, () => random.between(-1, 1));

t.test('the gradient of a volume is that of finite differences, and sums to 0', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let n = 0; n < 100; n++) {
    const x = points(random, 4);
    const volumes = new Volumes();
    volumes.add(n % 2 === 0 ? VT : EE, x, 0, 1, 2, 3);
    t.ok(volumes.volume[0] >= 0 && volumes.goal[0] === volumes.volume[0], 'positive where the step begins');
    const gradient = volumes.gradient.slice(0, 12);
    const step = 1e-4;
    for (let k = 0; k < 12; k++) {
      const at = (shift: number) => {
        const y = x.slice();
        y[k] += shift;
        volumes.evaluate(y);
        return volumes.volume[0];
      };
      // V is linear in each coordinate, so differences are exact but for rounding.
      const difference = (at(step) - at(-step)) / (2 * step);
      t.ok(Math.abs(difference - gradient[k]) < 1e-10);
    }
    for (let c = 0; c < 3; c++)
      t.ok(Math.abs(gradient[c] + gradient[3 + c] + gradient[6 + c] + gradient[9 + c]) < 1e-15);
  }
});

t.test('a solve restores a volume, and changes neither linear nor angular momentum of a zone', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let n = 0; n < 50; n++) {
    const count = 12;
    const x = Float32Array.from(points(random, count));
    const inverseMasses = Float32Array.from({ length: count }, () => random.between(0.2, 4));
    const candidate = Float64Array.from(x, (value) => value + random.between(-0.2, 0.2));
    const volumes = new Volumes();
    // Two zones: vertices 0 to 5, and 6 to 11.
    volumes.add(VT, x, 0, 1, 2, 3);
    volumes.add(EE, x, 2, 3, 4, 5);
    volumes.add(EE, x, 6, 7, 8, 9);
    volumes.add(VT, x, 10, 8, 9, 11);
    const zones = new Zones(count);
    zones.build(volumes, x, inverseMasses);
    t.equal(zones.count, 2);
    const before = volumes.goal.slice(0, 4);
    volumes.evaluate(candidate);
    const lack = volumes.goal.slice(0, 4).map((goal, k) => Math.abs(goal - volumes.volume[k]));
    const delta = new PressureSolver(inverseMasses).solve(volumes, zones, x, () => undefined).slice();
    for (const members of [
      [0, 1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10, 11],
    ]) {
      const linear = [0, 0, 0];
      const angular = [0, 0, 0];
      let size = 0;
      for (const v of members) {
        const mass = 1 / inverseMasses[v];
        const [d, r] = [delta, x].map((of) => of.subarray(3 * v, 3 * v + 3));
        for (let c = 0; c < 3; c++) {
          const [i, j] = [(c + 1) % 3, (c + 2) % 3];
          linear[c] += mass * d[c];
          angular[c] += mass * (r[i] * d[j] - r[j] * d[i]);
          size += mass * Math.abs(d[c]);
        }
      }
      t.ok(Math.max(...linear.map(Math.abs)) <= 1e-13 * size, 'linear');
      t.ok(Math.max(...angular.map(Math.abs)) <= 1e-12 * size, 'angular');
    }
    // With half of the step the volumes lack about half as much: the solve goes along the gradient.
    const half = candidate.map((value, k) => value + 1e-3 * delta[k]);
    volumes.evaluate(half);
    const left = before.map((goal, k) => Math.abs(goal - volumes.volume[k]));
    const total = (of: Float64Array) => of.reduce((sum, value) => sum + value, 0);
    t.ok(total(left) < total(lack), `${total(lack)} → ${total(left)}`);
  }
});

t.test('a zone with a kinematic vertex is held: that vertex does not move', async (t) => {
  const x = Float32Array.of(0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0);
  const inverseMasses = Float32Array.of(1, 0, 0, 0);
  const volumes = new Volumes();
  volumes.add(VT, x, 0, 1, 2, 3);
  const zones = new Zones(4);
  zones.build(volumes, x, inverseMasses);
  t.same(zones.isHeld, [true]);
  t.same(zones.members, [0]);
  volumes.evaluate(Float64Array.of(0.2, 0.2, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0));
  const delta = new PressureSolver(inverseMasses).solve(volumes, zones, x, () => undefined);
  t.ok(Math.abs(delta[2] - 2) < 0.02, `${delta[2]}: back to its height`);
  t.same([...delta.subarray(3)], new Array(9).fill(0));
});

t.test('the pseudo-inverse omits the axis about which there is no inertia', async (t) => {
  // Points along (1, 2, 2)/3: inertia 9 about every axis across it, none along it.
  const d = [1 / 3, 2 / 3, 2 / 3];
  const inertia = Array.from({ length: 9 }, (_, k) => 9 * ((k % 4 === 0 ? 1 : 0) - d[Math.floor(k / 3)] * d[k % 3]));
  const inverse = pseudoInverse(inertia);
  inverse.forEach((value, k) => {
    t.ok(Math.abs(value - inertia[k] / 81) < 1e-12);
  });
  t.same(pseudoInverse(new Array(9).fill(0)), new Array(9).fill(0));
});
