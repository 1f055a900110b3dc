import t, { type Test } from 'tap';
import type { Quality } from '../../../src/contract/parameters.js';
import { findStrainedElements } from '../../../src/jobs/strained-elements.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { FAR_LEAPS, FreeFlight } from '../../../src/solver/flight/free-flight.js';
import { CoordinateFrame, floorOf } from '../../../src/solver/frame.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { toSettings } from '../../../src/solver/settings.js';
import { type Judged, resolveJudged } from '../../support/judged-resolve.js';
import { type Random, seeded } from '../../support/random.js';
import { type Point, SceneBuilder } from '../../support/scene-builder.js';
import { roundsOf } from '../../support/share.js';

t.setTimeout(600_000);

const engine = createCpuEngine();

/** Metres; edges are 0.05, so that δ is 5 mm and a leap 0.1. */
const FAR = 1e4;

const middle = (u: number, v: number): boolean => Math.abs(u - 0.5) < 0.02 && Math.abs(v - 0.5) < 0.02;

/** A sheet of which the middle vertex alone goes far away; the others move a little. */
function oneVertex(far: Point): SceneBuilder {
  const b = new SceneBuilder();
  b.sheet(20, (u, v) => {
    const at: Point = [u, v, 0.05 * Math.sin(7 * u)];
    return { at, to: middle(u, v) ? far : [u, v, at[2] + 0.02] };
  });
  return b;
}

/** A grain far away over a sheet that sinks. */
function grain(): SceneBuilder {
  const b = new SceneBuilder();
  b.sheet(20, (u, v) => ({ at: [u, v, 0], to: [u, v, -0.05] }));
  b.particle(b.vertex([0.5, 0.5, 0.02], [FAR, -FAR, FAR]));
  return b;
}

/** Strands that part from each other over a sheet, and bend. */
function strands(): SceneBuilder {
  const b = new SceneBuilder();
  b.sheet(10, (u, v) => ({ at: [u, v, 0], to: [u, v, -0.05] }));
  for (let k = 0; k < 8; k++) {
    const points = Array.from({ length: 20 }, (_, i) => ({
      at: [0.05 + 0.1 * k, 0.05 * i, 0.1] as Point,
      to: [0.05 + 0.1 * k + 0.2 * FAR * (k - 3.5), 0.05 * i, FAR + 0.001 * i * i] as Point,
    }));
    b.strand(points);
  }
  return b;
}

/** A sheet that goes away as a whole, bent, over one that stays. */
function sheets(): SceneBuilder {
  const b = new SceneBuilder();
  b.sheet(10, (u, v) => ({ at: [u, v, 0], to: [u, v, -0.05] }));
  b.sheet(10, (u, v) => ({ at: [u, v, 0.1], to: [u + FAR, v, FAR + 0.1 * u * u] }));
  return b;
}

const FREE_WAYS: readonly [name: string, make: () => SceneBuilder][] = [
  ['a vertex straight out of its cloth', () => oneVertex([0.5, 0.5, FAR])],
  ['a vertex out of its cloth at an angle', () => oneVertex([FAR, 0.7 * FAR, 0.6 * FAR])],
  ['a grain', grain],
  ['strands', strands],
  ['a whole sheet', sheets],
];

for (const [name, make] of FREE_WAYS) {
  for (const quality of ['FAST', 'BALANCED'] satisfies Quality[]) {
    for (const stretchLimit of [0, 1.1]) {
      t.test(`${name}, ${quality}, σ = ${stretchLimit}`, async (t) => {
        const { mesh, start, target } = make().build();
        const judged = await resolveJudged(engine, mesh, start, target, { quality, stretchLimit });
        judgeSafe(t, judged);
        t.equal(judged.resolution.status, 'CONVERGED', 'it arrives, because its way is free');
        t.ok(judged.arrived.every(Boolean), 'every vertex has the bits of its target');
        t.ok(judged.resolution.steps <= 5, `in a few steps: ${judged.resolution.steps}`);
        t.ok(judged.resolution.searches <= 2, `with hardly a search: ${judged.resolution.searches}`);
      });
    }
  }
}

function judgeSafe(t: Test, { intersections, collisions }: Judged): void {
  t.equal(intersections, 0, 'no state intersects');
  t.equal(collisions, 0, 'no piece of the path collides');
}

t.test('a wall ends a flight, whatever lies behind it', async (t) => {
  const b = new SceneBuilder();
  const wall = (z: number) =>
    b.sheet(6, (u, v) => ({ at: [4 * u - 2, 4 * v - 2, z], to: [4 * u - 2, 4 * v - 2, z] }), true);
  wall(30);
  wall(100);
  const id = b.vertex([0.03, 0.02, 0], [0.03, 0.02, FAR]);
  b.particle(id);
  b.sheet(4, (u, v) => ({ at: [u - 0.5, v - 0.5, -1], to: [u - 0.5, v - 0.5, -1] }));
  const { mesh, start, target } = b.build();
  const judged = await resolveJudged(engine, mesh, start, target, {
    activationDistance: 0.02,
    leap: 0.1,
    quality: 'FAST',
  });
  judgeSafe(t, judged);
  const height = judged.positions[3 * id + 2];
  t.ok(height > 29.9 && height < 30, `it stands at the first wall: ${height}`);
  t.ok(judged.resolution.steps < 200, `and did not leap there: ${judged.resolution.steps}`);
});

t.test('an edge with a limit holds back the end that could fly farther', async (t) => {
  const b = new SceneBuilder();
  b.sheet(6, (u, v) => ({ at: [4 * u - 2, 4 * v - 2, 100], to: [4 * u - 2, 4 * v - 2, 100] }), true);
  // The first point meets the wall, the others fly beside it.
  const points = Array.from({ length: 12 }, (_, i) => ({
    at: [1.7 + 0.05 * i, 0.1, 0] as Point,
    to: [1.7 + 0.05 * i, 0.1, FAR] as Point,
  }));
  const first = b.strand(points);
  const { mesh, start, target } = b.build();
  const judged = await resolveJudged(engine, mesh, start, target, {
    ...{ activationDistance: 0.005, leap: 0.1, stretchLimit: 1.1, stepLimit: 1 },
  });
  judgeSafe(t, judged);
  const { positions } = judged;
  const heights = points.map((_, i) => positions[3 * (first + i) + 2]);
  t.ok(heights[0] > 50 && heights[0] < 100, 'the strand has flown, and its first point not through the wall');
  for (let i = 1; i < points.length; i++) {
    const length = Math.hypot(0.05, heights[i] - heights[i - 1]);
    t.ok(length <= 1.1 * 0.05 * (1 + 1e-4), `edge ${i} is ${length}`);
  }
});

t.test('elements with strain limits are not torn apart where stretchLimit is off', async (t) => {
  const b = new SceneBuilder();
  // A small plate in the way of a sheet that goes away as a whole.
  const plate = (u: number, v: number): Point => [0.2 * (u - 0.5), 0.2 * (v - 0.5), 5];
  b.sheet(2, (u, v) => ({ at: plate(u, v), to: plate(u, v) }), true);
  b.sheet(12, (u, v) => ({ at: [u - 0.5, v - 0.5, 0], to: [u - 0.5, v - 0.5, 20] }));
  const { mesh, start, target } = b.build();
  const limited = { ...mesh, strainLimits: { rest: start, max: 1.1 } };
  const parameters = { quality: 'BALANCED', stretchLimit: 0, stepLimit: 1 } as const;
  const judged = await resolveJudged(engine, limited, start, target, parameters);
  judgeSafe(t, judged);
  const frame = { origin: [0, 0, 0], scale: 1 } as const;
  const strain = findStrainedElements(buildMesh(limited), judged.positions, frame)!;
  t.ok(
    judged.positions.some((value, k) => k % 3 === 2 && value > 4 && value !== 5),
    'the sheet has flown',
  );
  t.equal(strain.violated, 0, JSON.stringify(strain));
  // Without strain limits nothing holds the rest of the sheet back.
  const free = await resolveJudged(engine, mesh, start, target, parameters);
  t.ok(
    free.positions.some((value, k) => k % 3 === 2 && value === target[k] && value > 6),
    'vertices beside the plate arrive',
  );
});

t.test('a caller who stops at once gets the start', async (t) => {
  const { mesh, start, target } = sheets().build();
  const { resolution, positions } = await resolveJudged(engine, mesh, start, target, {}, 0);
  t.equal(resolution.status, 'DEADLINE');
  t.equal(resolution.steps, 0);
  t.ok(positions.every((p, k) => Math.abs(p - start[k]) < 1e-7));
});

t.test('an abandoned flight moves nothing', async (t) => {
  const { mesh, x, target, settings } = engineInputOf(strands());
  const before = x.slice();
  for (const calls of [0, 1, 2]) {
    let left = calls;
    const run = {
      ...{ x, target, mayContinue: () => true, onPiece: () => t.fail('no piece is reported') },
      pulse: () => {
        if (left-- === 0) throw new Error('out of time');
      },
    };
    t.throws(() => new FreeFlight(mesh, settings).fly(run), /out of time/);
    t.same(x, before);
  }
});

t.test(
  'a flight keeps half of the floor where every part has a δ of its own, however small that of the parameters is',
  (t) => {
    const b = new SceneBuilder();
    b.triangle(
      ...((
        [
          [0, 0, 30],
          [2, 0, 30],
          [0, 2, 30],
        ] as const
      ).map((at) => b.vertex(at)) as [number, number, number]),
    );
    const delta = 0.1;
    const floor = delta / 100;
    const id = b.vertex([-floor / 4, 1, 0], [-floor / 4, 1, FAR]);
    b.particle(id);
    b.part('all');
    const { mesh: input, start, target } = b.build();
    const mesh = buildMesh({ ...input, parts: input.parts!.map((part) => ({ ...part, activationDistance: delta })) });
    const measures = measureMesh(mesh, start);
    const { parameters } = resolveParameters({ activationDistance: delta / 10_000, leap: 0.2 }, measures);
    const settings = toSettings(parameters, { scale: 1, floor });
    const x = Float32Array.from(start);
    const run = { x, target: Float32Array.from(target), mayContinue: () => true, onPiece: () => {}, pulse: () => {} };
    new FreeFlight(mesh, settings).fly(run);
    const height = x[3 * id + 2]!;
    t.ok(height > 29 && height < 30, `the triangle is nearer to its way than that: it flies to ${height}`);
    t.end();
  },
);

t.test('no vertex flies if targets are near', async (t) => {
  const { mesh, x, settings } = engineInputOf(sheets());
  const target = x.map((value, k) => value + (k % 3 === 2 ? (FAR_LEAPS - 1) * settings.leap : 0));
  const fly = () => t.fail('neither piece nor search');
  const run = { x, target, mayContinue: () => true, onPiece: fly, pulse: fly };
  t.equal(new FreeFlight(mesh, settings).fly(run), 0);
});

/** What an engine gets. */
function engineInputOf(builder: SceneBuilder) {
  const { mesh: input, start, target } = builder.build();
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, start);
  const frame = CoordinateFrame.fit(start, measures.medianEdge, measures.bounds);
  const { parameters } = resolveParameters({ quality: 'FAST' }, measures);
  const floor = floorOf(parameters.activationDistance, frame, 'FLOAT64');
  const settings = toSettings(parameters, { scale: frame.scale, floor });
  return { mesh, x: frame.toEngine(start), target: frame.toEngine(target), settings };
}

/** Sheets, strands and grains close to each other, of which some vertices or whole bodies go far away, in any direction. */
function randomFlights(random: Random): SceneBuilder {
  const b = new SceneBuilder();
  const away = (): Point => {
    const distance = 10 ** random.between(0.5, 5);
    const axis = random.int(3);
    const along = (c: number) => (c === axis || random() < 0.5 ? distance * random.between(-1, 1) : 0);
    return [along(0), along(1), along(2)];
  };
  const bodies = 2 + random.int(3);
  const shares = [0.01, 0.05, 0.3, 1];
  for (let k = 0; k < bodies; k++) {
    const [wave, height] = [random.between(0, 0.06), 0.15 * k];
    const chance = shares[random.int(shares.length)];
    const isTogether = random() < 0.3;
    const common = away();
    const place = (at: Point): { at: Point; to: Point } => {
      if (random() >= chance) return { at, to: [at[0], at[1], at[2] + random.between(-0.1, 0.1)] };
      const by = isTogether ? common : away();
      return { at, to: [at[0] + by[0], at[1] + by[1], at[2] + by[2]] };
    };
    const kind = random.int(3);
    if (kind === 0) b.sheet(6, (u, v) => place([u, v, height + wave * Math.sin(5 * u + k)]), random() < 0.2);
    else if (kind === 1) {
      for (let s = 0; s < 3; s++) {
        b.strand(Array.from({ length: 8 }, (_, i) => place([0.3 * s + 0.1, 0.1 * i, height + wave * Math.sin(i + s)])));
      }
    } else {
      for (let s = 0; s < 12; s++) {
        const { at, to } = place([0.23 * (s % 4) + 0.05, 0.31 * Math.floor(s / 4) + 0.03, height]);
        b.particle(b.vertex(at, to));
      }
    }
  }
  b.sheet(4, (u, v) => ({ at: [u, v, -0.2], to: [u, v, -0.2] }));
  return b;
}

const seeds = seeded();
t.test(`random flights, seed ${seeds.seed}`, async (t) => {
  const rounds = roundsOf(150, 3);
  let flown = 0;
  for (let n = 0; n < rounds; n++) {
    const random = seeded(seeds.int(2 ** 32));
    const { mesh, start, target } = randomFlights(random).build();
    const judged = await resolveJudged(engine, mesh, start, target, {
      quality: random() < 0.5 ? 'FAST' : 'BALANCED',
      stretchLimit: random() < 0.5 ? 0 : 1.1,
      kinematicPairs: random() < 0.5 ? 'SKIP' : 'PROTECT',
      stepLimit: 1 + random.int(12),
    });
    const { intersections, collisions, positions } = judged;
    if (intersections > 0 || collisions > 0)
      t.fail(`seed ${random.seed}: ${intersections} intersections, ${collisions} collisions`);
    if (positions.some((p, k) => Math.abs(p - start[k]) > 10)) flown++;
  }
  t.ok(flown > rounds / 5, `${flown} of ${rounds} scenes have flights`);
});
