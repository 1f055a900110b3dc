import type { Test } from 'tap';
import { besideKeptPile } from '../../bench/prove/scenes/beside.js';
import { movingGroups } from '../../bench/prove/scenes/moving-groups.js';
import { Random } from '../../bench/prove/scenes/random.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { Engine } from '../../src/solver/engine.js';
import { runJob } from '../support/job.js';
import { type ExamplePair, examplePair } from '../support/nearness.js';
import { seeded } from '../support/random.js';
import { flatSheet } from '../support/sheet.js';

/** A sheet of unit edges in the plane z = 0, and bodies with their own triangles. */
function sheetAmong(
  [nx, ny]: readonly [number, number],
  bodies: readonly { readonly points: readonly (readonly number[])[]; readonly triangles: readonly number[] }[],
) {
  const sheet = flatSheet(nx, ny);
  const start = [...sheet.rest];
  const triangles = [...sheet.triangles];
  for (const body of bodies) {
    const first = start.length / 3;
    triangles.push(...body.triangles.map((corner) => first + corner));
    start.push(...body.points.flat());
  }
  const { vertexCount: dynamic } = sheet;
  const vertexCount = start.length / 3;
  const kinematic = new Uint8Array(vertexCount).fill(1, dynamic);
  const mesh: MeshInput = { vertexCount, triangles: Uint32Array.from(triangles), kinematic };
  return { mesh, start: Float32Array.from(start), dynamic };
}

/** Two triangles that make a large square at this height. */
const plane = (z: number) => ({
  points: [
    [-60, -60, z],
    [60, -60, z],
    [60, 60, z],
    [-60, 60, z],
  ],
  triangles: [0, 1, 2, 0, 2, 3],
});

/** An octahedron of this radius whose topmost corner is at this height. */
const post = (radius: number, top: number) => {
  const along = (axis: number, by: number) =>
    [0, 1, 2].map((c) => (c === axis ? by : 0) + (c === 2 ? top - radius : 0));
  return {
    points: [0, 1, 2].flatMap((axis) => [along(axis, radius), along(axis, -radius)]),
    triangles: [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5],
  };
};

/** The surface of a block of 4 × 4 × 4 cubes on z = 0. */
function block() {
  const start: number[] = [];
  const triangles: number[] = [];
  const known = new Map<string, number>();
  const corner = (...at: readonly [number, number, number]): number => {
    const key = String(at);
    if (!known.has(key)) {
      known.set(key, start.length / 3);
      start.push(at[0] - 2, at[1] - 2, at[2]);
    }
    return known.get(key)!;
  };
  const square = (a: number, b: number, c: number, d: number) => triangles.push(a, b, c, a, c, d);
  for (let a = 0; a < 4; a++) {
    for (let b = 0; b < 4; b++) {
      for (const side of [0, 4]) {
        square(corner(a, b, side), corner(a + 1, b, side), corner(a + 1, b + 1, side), corner(a, b + 1, side));
        square(corner(a, side, b), corner(a + 1, side, b), corner(a + 1, side, b + 1), corner(a, side, b + 1));
        square(corner(side, a, b), corner(side, a + 1, b), corner(side, a + 1, b + 1), corner(side, a, b + 1));
      }
    }
  }
  return { start, triangles, dynamic: start.length / 3 };
}

/** Two cubes that change places along x; the second one is beside the way of the first, but not quite. */
function passingCubes(beside: readonly [number, number], way: number) {
  const corners = Array.from({ length: 8 }, (_, n) => [n & 1 ? 1 : -1, n & 2 ? 1 : -1, n & 4 ? 1 : -1]);
  const faces = [
    0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5,
  ];
  const [y, z] = beside;
  const start = Float32Array.from([
    ...corners.flat(),
    ...corners.flatMap((at) => [at[0]! + 2.5, at[1]! + y, at[2]! + z]),
  ]);
  const target = start.map((value, k) => (k % 3 === 0 ? value + (k < 24 ? way : -way) : value));
  const triangles = Uint32Array.from([...faces, ...faces.map((v) => 8 + v)]);
  return { mesh: { vertexCount: 16, triangles }, start, target };
}

/** The block, and a round pillar beside its way. */
function blockBeside(pillar: { readonly y: number; readonly radius: number }) {
  const { start, triangles, dynamic } = block();
  const sides = 8;
  for (const z of [-0.25, 9]) {
    for (let n = 0; n < sides; n++) {
      const angle = (2 * Math.PI * n) / sides;
      start.push(8 + pillar.radius * Math.cos(angle), pillar.y + pillar.radius * Math.sin(angle), z);
    }
  }
  for (let n = 0; n < sides; n++) {
    const [a, b] = [dynamic + n, dynamic + ((n + 1) % sides)];
    triangles.push(a, b, b + sides, a, b + sides, a + sides);
  }
  const vertexCount = start.length / 3;
  const kinematic = new Uint8Array(vertexCount).fill(1, dynamic);
  const mesh: MeshInput = { vertexCount, triangles: Uint32Array.from(triangles), kinematic };
  return { mesh, start: Float32Array.from(start), dynamic };
}

/** The block on two triangles that make a large square. */
function blockOnFloor() {
  const { start, triangles, dynamic } = block();
  const { points, triangles: floor } = plane(-0.05);
  triangles.push(...floor.map((corner) => dynamic + corner));
  start.push(...points.flat());
  const vertexCount = start.length / 3;
  const kinematic = new Uint8Array(vertexCount).fill(1, dynamic);
  const mesh: MeshInput = { vertexCount, triangles: Uint32Array.from(triangles), kinematic };
  return { mesh, start: Float32Array.from(start), dynamic };
}

/** A zigzag of three layers of unit edges, less than the floor apart, turned out of the axes. */
function foldedSheet(gap: number) {
  const { vertexCount, rest, triangles } = flatSheet(24, 6);
  const turn = rotation(0.7, 0.4);
  const random = seeded(1);
  const start = rest.slice();
  for (let k = 0; k < start.length; k += 3) {
    const along = rest[k]! + 12;
    const layer = Math.min(2, Math.floor(along / 8));
    const [way, isFold] = [along - 8 * layer, along === 7 || along === 15];
    const [dx, dy] = [random.between(-0.02, 0.02), random.between(-0.02, 0.02)];
    start.set(turn([dx + (layer === 1 ? 8 - way : way), dy + rest[k + 1]!, gap * (layer + (isFold ? 0.5 : 0))]), k);
  }
  return { mesh: { vertexCount, triangles } satisfies MeshInput, start };
}

/** A sheet in the plane z = 0 with a corner that lies on the next triangle, which shares an edge with that of the corner. */
function sheetWithFlatCorner() {
  const { vertexCount, rest, triangles } = flatSheet(12, 10);
  const rows = Array.from({ length: triangles.length / 3 }, (_, t) => [...triangles.subarray(3 * t, 3 * t + 3)]);
  const corner = Array.from({ length: vertexCount }, (_, v) => v).find(
    (v) => rows.filter((row) => row.includes(v)).length === 1,
  )!;
  const [a, b] = rows.find((row) => row.includes(corner))!.filter((v) => v !== corner);
  const start = rest.slice();
  for (let k = 0; k < 3; k++) {
    start[3 * corner + k] = 0.7 * (rest[3 * a! + k]! + rest[3 * b! + k]!) - 0.4 * rest[3 * corner + k]!;
  }
  return { mesh: { vertexCount, triangles } satisfies MeshInput, start };
}

/** Turns about z, then about x. */
function rotation(first: number, second: number) {
  const [c, s, d, e] = [Math.cos(first), Math.sin(first), Math.cos(second), Math.sin(second)];
  return ([x, y, z]: readonly number[]): readonly [number, number, number] => {
    const [u, v] = [c * x! - s * y!, s * x! + c * y!];
    return [u, d * v - e * z!, e * v + d * z!];
  };
}

/**
 * A pair, and far beside it sheets of 8 × 8 edges that lie on a floor, an eighth of an edge apart. Their targets lie lower.
 *
 * @param of.edge of a sheet, in the unit of the pair @param of.depth edges
 */
function besidePile(
  { mesh, start, target }: Pick<ExamplePair, 'mesh' | 'start' | 'target'>,
  { edge, layers, depth }: { readonly edge: number; readonly layers: number; readonly depth: number },
): Pick<ExamplePair, 'mesh' | 'start' | 'target'> {
  const points: number[] = [];
  const triangles = [...(mesh.triangles ?? [])];
  const add = (body: ArrayLike<number>, corners: Iterable<number>, move: readonly number[]) => {
    const first = mesh.vertexCount + points.length / 3;
    triangles.push(...Array.from(corners, (corner) => first + corner));
    points.push(...Array.from(body, (value, k) => edge * (value + move[k % 3]!)));
  };
  for (let layer = 0; layer < layers; layer++) {
    const n = 8 - (layer % 3);
    const { rest, triangles: corners } = flatSheet(n, n, 8 / n);
    add(rest, corners, [200 + 0.13 * (layer % 2), 0.07 * layer, (layer + 1) / 8]);
  }
  const dynamic = points.length;
  const floor = plane(0);
  add(floor.points.flat(), floor.triangles, [200, 0, 0]);
  const lower = points.map((value, k) => (k % 3 === 2 && k < dynamic ? value - depth * edge : value));
  const vertexCount = mesh.vertexCount + points.length / 3;
  const isKinematic = (v: number) =>
    v < mesh.vertexCount ? mesh.kinematic![v]! : 3 * (v - mesh.vertexCount) < dynamic ? 0 : 1;
  const kinematic = Uint8Array.from({ length: vertexCount }, (_, v) => isKinematic(v));
  return {
    mesh: { ...mesh, vertexCount, triangles: Uint32Array.from(triangles), kinematic },
    start: Float64Array.from([...start, ...points]),
    target: Float64Array.from([...target, ...lower]),
  };
}

/** Requests whose answers once stayed far from the target although nothing kept them there, for every engine. */
export function testNearAnswers(t: Test, engine: Engine): void {
  t.test('a sheet between two planes, sent far along them and against the upper one, slides there', async (t) => {
    const { mesh, start, dynamic } = sheetAmong([12, 10], [plane(-0.35), plane(0.3)]);
    for (const seed of [1, 3, 7, 8]) {
      const random = seeded(seed);
      const moved = (value: number, k: number) => value + [46, -0.5, 2][k % 3]! + random.between(-0.3, 0.3);
      const target = start.map((value, k) => (k < 3 * dynamic ? moved(value, k) : value));
      const { report } = (await runJob({ mesh, start, target, parameters: {} }, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.intersections, 0);
      t.equal(report.overlongEdges, 0);
      // Only the part of the target beyond the upper plane is out of reach.
      t.ok(report.distanceToTargetRms < 1.8, `${report.distanceToTargetRms}`);
    }
  });

  t.test('a block that turns and is sent past a pillar passes it as a whole', async (t) => {
    const [cos, sin] = [Math.cos(Math.PI / 9), Math.sin(Math.PI / 9)];
    for (const [y, radius] of [
      [3, 0.8],
      [2, 0.5],
      [1, 0.5],
    ] as const) {
      const { mesh, start, dynamic } = blockBeside({ y, radius });
      const target = start.slice();
      for (let k = 0; k < 3 * dynamic; k += 3) {
        target[k] = cos * start[k]! - sin * start[k + 1]! + 16;
        target[k + 1] = sin * start[k]! + cos * start[k + 1]!;
      }
      const { report } = (await runJob({ mesh, start, target, parameters: {} }, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.intersections, 0);
      t.ok(report.distanceToTargetMax < 1e-3, `${report.distanceToTargetMax}`);
      // Leap by leap it would take dozens.
      t.ok(report.steps <= 8, `pillar at ${y}: ${report.steps} steps`);
    }
  });

  t.test('a block that is pressed onto a floor and turned by half a turn turns there', async (t) => {
    for (const angle of [Math.PI, 3.1]) {
      const { mesh, start, dynamic } = blockOnFloor();
      const turn = rotation(angle, 0);
      const target = start.slice();
      for (let k = 0; k < 3 * dynamic; k += 3) target.set(turn([...start.subarray(k, k + 3)]), k);
      for (let k = 2; k < 3 * dynamic; k += 3) target[k]! -= 1;
      const { report } = (await runJob({ mesh, start, target, parameters: {} }, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.intersections, 0);
      // Only what lies below the floor is out of reach.
      t.ok(report.distanceToTargetMax < 0.98, `turned by ${angle}: ${report.distanceToTargetMax}`);
    }
  });

  t.test('a sheet that drapes over a post hangs down on all sides, whether edges or strains have limits', async (t) => {
    for (const [seed, limits, most] of [
      [8, undefined, 0.45],
      [12, undefined, 0.45],
      [2, { min: 0.8, max: 1.2 }, 0.75],
      [4, { min: 0.8, max: 1.2 }, 0.75],
      [13, { min: 0.8, max: 1.2 }, 0.8],
    ] as const) {
      const random = seeded(seed);
      const [radius, shear] = [random.between(0.4, 1.4), random.between(0.3, 1.5)];
      const { mesh, start, dynamic } = sheetAmong([12, 5], [post(radius, -0.35)]);
      const moved = (value: number, k: number) =>
        value + [shear * start[k + 1]!, 0, -2][k % 3]! + 0.1 * random.between(-1, 1);
      const target = start.map((value, k) => (k < 3 * dynamic ? moved(value, k) : value));
      const limited = limits ? { ...mesh, strainLimits: { rest: start, ...limits } } : mesh;
      const { report } = (await runJob({ mesh: limited, start, target, parameters: {} }, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.intersections, 0);
      t.equal(report.overlongEdges + (report.strain?.violated ?? 0), 0);
      t.ok(report.distanceToTargetRms < most, `seed ${seed}: ${report.distanceToTargetRms}`);
    }
  });

  t.test('a sheet that lies on itself moves as one, however near its layers are', async (t) => {
    const moves = [
      ([x, y, z]: readonly number[]) => [x! + 30, y! + 20, z! + 5],
      ([x, y, z]: readonly number[]) => rotation(-0.5, 0.3)([x! + 12, y!, z! - 7]),
    ];
    const sheets = [5e-4, 1e-4, 3e-5].map((gap) => [`layers ${gap} apart`, foldedSheet(gap), 0.03] as const);
    for (const [name, { mesh, start }, most] of [...sheets, ['a flat corner', sheetWithFlatCorner(), 1e-6] as const]) {
      for (const move of moves) {
        const target = start.slice();
        for (let k = 0; k < start.length; k += 3) target.set(move([...start.subarray(k, k + 3)]), k);
        // If a piece of the path met anything, the answer would be an earlier state. A start that touches has no such path.
        const verify = name === 'a flat corner' ? 'STATE' : 'PATH';
        const { report } = (await runJob({ mesh, start, target, parameters: { verify } }, engine)).answer;
        t.equal(report.status, 'CONVERGED');
        t.equal(report.verification.intersections, 0);
        // Contacts open to their offset; nothing else keeps the sheet off its target.
        t.ok(report.distanceToTargetMax < most, `${name}: ${report.distanceToTargetMax}`);
      }
    }
  });

  /** @param apart distance of the sheets of the pile at first @param press how far each wants to sink in a frame; both in δ */
  async function holdsNothing(t: Test, apart: number, press: number): Promise<void> {
    const delta = 0.1;
    const table = flatSheet(14, 14, 15 / 14);
    const sheets = [1, 2, 3, 4].map((layer) => {
      const cells = 10 - ((layer - 1) % 3);
      const { rest, triangles } = flatSheet(cells, cells, 10 / cells);
      const shifted = rest.map((value, k) => value + [0.13 * ((layer - 1) % 2), 0, apart * delta * layer][k % 3]!);
      return { rest: shifted, triangles };
    });
    const beside = flatSheet(6, 6).rest.map((value, k) => value + [30, 0, 3][k % 3]!);
    const bodies = [table, ...sheets, { rest: beside, triangles: flatSheet(6, 6).triangles }];
    const firsts = bodies.map((_, n) => bodies.slice(0, n).reduce((sum, { rest }) => sum + rest.length / 3, 0));
    const start = Float32Array.from(bodies.flatMap(({ rest }) => [...rest]));
    const vertexCount = start.length / 3;
    const kinematic = new Uint8Array(vertexCount).fill(1, 0, firsts[1]);
    const triangles = Uint32Array.from(bodies.flatMap((body, n) => [...body.triangles.map((v) => v + firsts[n]!)]));
    const heightOf = (x: ArrayLike<number>, body: number) => {
      const [from, to] = [firsts[body]!, firsts[body + 1] ?? vertexCount];
      let sum = 0;
      for (let v = from; v < to; v++) sum += x[3 * v + 2]!;
      return sum / (to - from);
    };
    let x: ArrayLike<number> = start;
    for (let frame = 0; frame < 8; frame++) {
      const from = Float32Array.from(x);
      const wish = (v: number) => (v < firsts[1]! ? 0 : v < firsts[5]! ? press * delta : 0.1 * delta);
      const target = from.map((value, k) => (k % 3 === 2 ? value - wish((k - 2) / 3) : value));
      const parameters = { activationDistance: delta, verify: 'PATH' } as const;
      const request = { mesh: { vertexCount, triangles, kinematic }, start: from, target, parameters };
      const { positions, report } = (await runJob(request, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.fellBack, false);
      x = positions;
    }
    // The uppermost sheet stayed more than δ above the next one, and the other one where it was when the pile had come to rest.
    const gap = heightOf(x, 4) - heightOf(x, 3);
    t.ok(gap > 0.1 * delta && gap < 0.5 * delta, `on the pile: ${gap / delta} δ`);
    const went = heightOf(start, 5) - heightOf(x, 5);
    t.ok(went > 0.75 * delta, `beside it: ${went / delta} δ`);
  }

  t.test('a pile that is pressed together holds neither what falls onto it nor what hangs beside it', async (t) => {
    await holdsNothing(t, 1.2, 3);
    await holdsNothing(t, 1.05, 1);
  });

  t.test('a gripper that holds two layers of cloth close to each other lifts both', async (t) => {
    const delta = 0.1;
    const lower = flatSheet(8, 8);
    const upper = lower.rest.map((value, k) => value + [delta, 0.6 * delta, 0.1 * delta][k % 3]!);
    const start = Float32Array.from([...lower.rest, ...upper]);
    const half = lower.vertexCount;
    const triangles = Uint32Array.from([...lower.triangles, ...lower.triangles.map((v) => half + v)]);
    const isHeld = (v: number) => Math.hypot(lower.rest[3 * (v % half)]!, lower.rest[3 * (v % half) + 1]!) < 2.5;
    const kinematic = Uint8Array.from({ length: 2 * half }, (_, v) => (isHeld(v) ? 1 : 0));
    // The lower layer springs up in front of the gripper, and the upper one lies there at rest.
    const lift = (v: number) => (isHeld(v) ? 1 : v < half ? 0.5 : 0);
    const target = start.map((value, k) => (k % 3 === 2 ? value + lift((k - 2) / 3) : value));
    const mesh = { vertexCount: 2 * half, triangles, kinematic };
    const { report } = (await runJob({ mesh, start, target, parameters: { activationDistance: delta } }, engine))
      .answer;
    t.equal(report.verification.intersections, 0);
    t.equal(report.unreachedKinematic, 0);
  });

  t.test('sheets that a floor keeps far from their targets take nothing from what moves beside them', async (t) => {
    // Beside the distances of the sheets, no gain of the strands is a share of Φ worth a step; and what their contacts
    // lack after a step is more than the cloth on the spike can gain.
    for (const [name, layers, depth] of [
      ['hair', 1, 50],
      ['spike', 4, 500],
    ] as const) {
      const { mesh, start, target: end, parameters } = examplePair(name);
      const target = start.map((value, k) => value + 0.4 * (end[k]! - value));
      const alone = (await runJob({ mesh, start, target, parameters }, engine)).answer;
      const { activationDistance } = alone.report.resolved;
      const beside = besidePile({ mesh, start, target }, { edge: 10 * activationDistance, layers, depth });
      const request = { ...beside, parameters: { ...parameters, activationDistance } };
      const { positions, report } = (await runJob(request, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.intersections, 0);
      const rmsIn = (x: ArrayLike<number>): number =>
        Math.hypot(...target.map((y, k) => (mesh.kinematic![Math.floor(k / 3)] ? 0 : x[k]! - y)));
      const share = rmsIn(positions) / rmsIn(alone.positions);
      t.ok(share < 1.03, `${name} ends ${share} times as far from its targets as alone`);
    }
  });

  t.test('in a finer quality, too, a pile that a table keeps takes nothing from the sheet beside it', async (t) => {
    for (const seed of [19, 39]) {
      const { mesh, start, target, free } = besideKeptPile(new Random(seed));
      const parameters = { quality: 'FINE', activationDistance: 0.001, contactOffset: 0.0009 } as const;
      const { positions, report } = (await runJob({ mesh, start, target, parameters }, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      const left = free!.map((v) => Math.hypot(...[0, 1, 2].map((c) => positions[3 * v + c]! - target[3 * v + c]!)));
      t.ok(Math.max(...left) < 0.05 * 0.001, `${Math.max(...left) / 0.001} δ`);
    }
  });

  t.test('cubes that are sent past each other slide around each other, and arrive', async (t) => {
    for (const beside of [
      [0.5, 0.3],
      [0.5, 0.5],
    ] as const) {
      const { report } = (await runJob({ ...passingCubes(beside, 30), parameters: {} }, engine)).answer;
      t.equal(report.status, 'CONVERGED');
      t.equal(report.verification.intersections, 0);
      const { activationDistance: delta } = report.resolved;
      t.ok(report.distanceToTargetRms < 0.05 * delta, `${report.distanceToTargetRms / delta} δ`);
    }
  });

  t.test('bodies in closed contact that are sent past a post do not stop in front of it', async (t) => {
    const { mesh, start, target } = movingGroups(new Random(87110));
    const { report } = (await runJob({ mesh, start, target, parameters: {} }, engine)).answer;
    t.equal(report.status, 'CONVERGED');
    t.equal(report.verification.intersections, 0);
    const { activationDistance: delta } = report.resolved;
    // After a few steps all contacts were closed, 35 δ from the target.
    t.ok(report.distanceToTargetRms < 0.2 * delta, `${report.distanceToTargetRms / delta} δ`);
  });
}
