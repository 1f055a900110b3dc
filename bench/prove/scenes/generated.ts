import { besideKeptPile, besideRestingPile } from './beside.js';
import { Builder, type Point, type ProveScene } from './builder.js';
import { changingPlaces } from './changing-places.js';
import { bordersUnderBodies, neighbours, tangle, touching } from './contract.js';
import { departures } from './departures.js';
import { laidSheet } from './laid.js';
import { farGroups, hairlines, movingGroups } from './moving-groups.js';
import { sewnParts } from './parts.js';
import { vastGround, wideGround } from './plains.js';
import type { Random } from './random.js';
import { restedSheet } from './rested.js';
import { farFlights, farLandings, grainsOverSails, longRods, slidingGrains } from './rounding.js';
import {
  closeCalls,
  closingGrains,
  hairsBreadth,
  handkerchiefs,
  heldBorders,
  pebbles,
  slivers,
} from './single-rules.js';
import { strainedSheet, strainedSolid } from './strained.js';

export type MakeProveScene = (random: Random) => ProveScene;

/** Edges of about a centimetre, the scale at which the method's defaults were chosen. */
const EDGE = 0.01;

const scaled = (p: Point, s: number): Point => [s * p[0], s * p[1], s * p[2]];
const plus = (a: Point, b: Point): Point => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

/** Sheets one above the other, each with the place of another as its target. */
function layers(random: Random): ProveScene {
  const b = new Builder();
  const count = 2 + random.below(3);
  const n = 8 + random.below(8);
  const apart = random.between(0.002, 0.02);
  const order = Array.from({ length: count }, (_, k) => k).sort(() => random.next() - 0.5);
  // An order in which each stays in its place requires no motion.
  if (order.every((level, k) => level === k)) order.reverse();
  const wave = random.between(0, 0.3) * apart;
  for (let k = 0; k < count; k++) {
    const turn = random.between(0, 1);
    const height =
      (level: number) =>
      (u: number, v: number): Point => {
        const [x, y] = [(u - 0.5) * n * EDGE, (v - 0.5) * n * EDGE];
        return [
          x * Math.cos(turn) - y * Math.sin(turn),
          x * Math.sin(turn) + y * Math.cos(turn),
          level * apart + wave * Math.sin(9 * u + 7 * v),
        ];
      };
    b.sheet(n, n, height(k), height(order[k]));
  }
  return b.build();
}

/** Grains in a closed bag that is squeezed and thrown: none may leave it. */
function sandInABag(random: Random): ProveScene {
  const b = new Builder();
  const squeeze: Point = [random.between(0.3, 1.5), random.between(0.3, 1.5), random.between(0.1, 1)];
  const drift: Point = [random.between(-0.2, 0.2), random.between(-0.2, 0.2), 0];
  const radius = 0.05;
  const bag = b.sphere(
    10,
    14,
    (d) => scaled(d, radius),
    (d) => plus([d[0] * radius * squeeze[0], d[1] * radius * squeeze[1], d[2] * radius * squeeze[2]], drift),
    random.next() < 0.3,
  );
  const points: number[] = [];
  for (let k = 0; k < 150; k++) {
    const at: Point = [random.between(-0.026, 0.026), random.between(-0.026, 0.026), random.between(-0.026, 0.026)];
    points.push(b.particle(at, plus(at, [random.between(-0.2, 0.2), random.between(-0.2, 0.2), -0.1])));
  }
  b.invariants.push({ kind: 'WINDING', triangles: bag.triangles, points });
  return b.build();
}

/** Spheres in spheres, each with a target of its own: inside stays inside. */
function matryoshka(random: Random): ProveScene {
  const b = new Builder();
  const shells = [0.05, 0.035, 0.02].map((radius) => {
    const to: Point = [random.between(-0.1, 0.1), random.between(-0.1, 0.1), random.between(-0.1, 0.1)];
    const grow = random.between(0.4, 1.6);
    return b.sphere(
      9,
      12,
      (d) => scaled(d, radius),
      (d) => plus(scaled(d, radius * grow), to),
    );
  });
  shells.forEach((outer, i) => {
    shells.forEach((inner, j) => {
      if (i !== j) b.invariants.push({ kind: 'WINDING', triangles: outer.triangles, points: inner.vertices });
    });
  });
  return b.build();
}

/** Closed rings of rods, linked in a chain: a link cannot be opened. */
function chain(random: Random): ProveScene {
  const b = new Builder();
  const links = 4;
  const loops: number[][] = [];
  for (let k = 0; k < links; k++) {
    const points: Point[] = Array.from({ length: 16 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 16;
      const [p, q] = [0.03 * Math.cos(angle), 0.02 * Math.sin(angle)];
      return k % 2 === 0 ? [p + 0.04 * k, q, 0] : [p + 0.04 * k, 0, q];
    });
    const pull: Point = [random.between(-0.3, 0.3), random.between(-0.3, 0.3), random.between(-0.3, 0.3)];
    loops.push(
      b.strand(
        points,
        points.map((p) => plus(p, pull)),
        0,
        true,
      ),
    );
  }
  b.invariants.push({ kind: 'LINKING', loops });
  return b.build();
}

function hair(random: Random): ProveScene {
  const b = new Builder();
  for (let s = 0; s < 40; s++) {
    const direction = s % 2 === 0 ? 1 : -1;
    const base: Point = [0.006 * (s % 8) + 0.003 * (s % 2), 0.006 * Math.floor(s / 8) + 0.0015 * (s % 2), 0];
    const points: Point[] = Array.from({ length: 12 }, (_, k) => [
      base[0] + 0.0005 * Math.sin(k + s),
      base[1],
      -EDGE * k,
    ]);
    const sweep = random.between(0.01, 0.06);
    b.strand(
      points,
      points.map((p, k) => plus(p, [direction * sweep * (k / 11) ** 2, 0.3 * sweep * (k / 11), 0])),
      2,
    );
  }
  return b.build();
}

/** A sharp kinematic cone pushed through a sheet that is held at its border, or not. */
function spike(random: Random): ProveScene {
  const b = new Builder();
  const n = 14;
  const size = n * EDGE;
  const isHeld = random.next() < 0.5;
  const flat = (u: number, v: number): Point => [(u - 0.5) * size, (v - 0.5) * size, 0];
  b.sheet(n, n, flat, flat, (u, v) => isHeld && (u === 0 || v === 0 || u === 1 || v === 1));
  const push = random.between(0.01, 0.12);
  const lift = (p: Point): Point => plus(p, [0, 0, push]);
  const tip: Point = [random.between(-0.01, 0.01), random.between(-0.01, 0.01), -0.003];
  const top = b.vertex(tip, lift(tip), true);
  const ring = Array.from({ length: 7 }, (_, k) => {
    const angle = (2 * Math.PI * k) / 7;
    const at: Point = [tip[0] + 0.02 * Math.cos(angle), tip[1] + 0.02 * Math.sin(angle), -0.15];
    return b.vertex(at, lift(at), true);
  });
  ring.forEach((v, k) => {
    b.triangle(top, v, ring[(k + 1) % ring.length]);
  });
  return b.build();
}

function solids(random: Random): ProveScene {
  const b = new Builder();
  for (let k = 0; k < 3; k++) {
    const turn = random.between(0, 1.5);
    const shift: Point = [random.between(-0.01, 0.01), random.between(-0.01, 0.01), 0.08 * k];
    const place = (u: number, v: number, w: number): Point => {
      const [x, y] = [0.05 * (u - 0.5), 0.05 * (v - 0.5)];
      return plus([x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn), 0.05 * w], shift);
    };
    const fall = random.between(0, 0.15);
    const squash = random.between(0.5, 1.2);
    b.block(3, place, (u, v, w) => {
      const [x, y, z] = place(u, v, w);
      return [x, y, z * squash - fall];
    });
  }
  const table = (u: number, v: number): Point => [0.5 * (u - 0.5), 0.5 * (v - 0.5), -0.002];
  b.sheet(2, 2, table, table, () => true);
  return b.build();
}

/** Loose elements of all kinds everywhere, with random targets. */
function soup(random: Random): ProveScene {
  const b = new Builder();
  const wild = random.pick([0.3, 1, 3, 30]) * EDGE;
  const flat = random.next() < 0.3 ? 1e-3 : 1;
  const style = random.below(4);
  const common: Point = [random.between(-0.05, 0.05), random.between(-0.05, 0.05), random.between(-0.05, 0.05)];
  const jump = () => wild * random.between(-1, 1);
  const put = (cell: Point): number => {
    const at: Point = [
      EDGE * (cell[0] + 0.85 * random.next()),
      EDGE * flat * (cell[1] + 0.85 * random.next()),
      EDGE * (cell[2] + 0.85 * random.next()),
    ];
    const isKinematic = random.next() < 0.1;
    const to: Point =
      style === 0
        ? common
        : style === 1
          ? scaled(at, -1)
          : style === 2 && random.next() < 0.3
            ? at
            : plus(at, [jump(), jump(), jump()]);
    return b.vertex(at, to, isKinematic);
  };
  for (let i = 0; i < 5; i++) {
    for (let j = 0; j < 5; j++) {
      for (let k = 0; k < 5; k++) {
        const cell: Point = [i, j, k];
        const kind = random.below(6);
        if (kind < 3) b.triangle(put(cell), put(cell), put(cell));
        else if (kind === 3) b.segment(put(cell), put(cell));
        else if (kind === 4) {
          const [x, y, z] = [EDGE * (i + 0.4), EDGE * flat * (j + 0.4), EDGE * (k + 0.4)];
          b.particle([x, y, z], [x + jump(), y + jump(), z + jump()]);
        } else {
          const middle = put(cell);
          b.segment(put(cell), middle);
          b.segment(middle, put(cell));
        }
      }
    }
  }
  return b.build();
}

/** A tube twisted at its ends until it would pass through itself. */
function twistedTube(random: Random): ProveScene {
  const b = new Builder();
  const [around, along] = [16, 20];
  const twist = random.between(0.5, 4);
  const radius = 0.025;
  const id: number[][] = [];
  for (let j = 0; j <= along; j++) {
    id.push(
      Array.from({ length: around }, (_, k) => {
        const angle = (2 * Math.PI * (k + (j % 2) / 2)) / around;
        const share = j / along - 0.5;
        const turned = angle + twist * 2 * share;
        const at: Point = [radius * Math.cos(angle), radius * Math.sin(angle), EDGE * j];
        const waist = 0.1 + 0.9 * Math.abs(2 * share);
        const to: Point = [radius * waist * Math.cos(turned), radius * waist * Math.sin(turned), EDGE * j * 0.9];
        return b.vertex(at, to, j === 0 || j === along);
      }),
    );
  }
  for (let j = 0; j < along; j++) {
    for (let k = 0; k < around; k++) {
      const [a, c] = [id[j][k], id[j][(k + 1) % around]];
      const [d, e] = [id[j + 1][k], id[j + 1][(k + 1) % around]];
      b.triangle(a, c, d);
      b.triangle(c, e, d);
    }
  }
  return b.build();
}

/** Long thin triangles and nearly parallel rods with gaps far below the activation distance. */
function thinGaps(random: Random): ProveScene {
  const b = new Builder();
  const gap = 10 ** random.between(-4.5, -3);
  for (let s = 0; s < 10; s++) {
    const y = gap * s;
    const put = (p: Point) => b.vertex(p, [p[0], 10 * gap - p[1] + random.between(-0.02, 0.02), p[2]]);
    const tilt = 0.1 * Math.sin(3 * s);
    if (s % 2 === 0) b.triangle(put([0, y, tilt]), put([1, y, -tilt]), put([0.5, y, 0.02 + tilt / 2]));
    else b.segment(put([0, y, -tilt]), put([1, y, tilt + 0.01]));
  }
  return b.build();
}

/** Cloth, rods, grains and a solid in one heap. */
function mixed(random: Random): ProveScene {
  const b = new Builder();
  const drop = random.between(0.02, 0.1);
  const down = (p: Point): Point => plus(p, [0, 0, -drop]);
  const flat =
    (z: number) =>
    (u: number, v: number): Point => [0.12 * (u - 0.5), 0.12 * (v - 0.5), z];
  b.sheet(12, 12, flat(0), flat(0), (u, v) => (u === 0 || u === 1) && (v === 0 || v === 1));
  for (let s = 0; s < 6; s++) {
    const points: Point[] = Array.from({ length: 8 }, (_, k) => [-0.035 + EDGE * k, -0.03 + 0.011 * s, 0.006]);
    b.strand(points, points.map(down));
  }
  for (let k = 0; k < 80; k++) {
    const at: Point = [0.0101 * (k % 9) - 0.045, 0.011 * (Math.floor(k / 9) - 4), 0.014 + 0.0005 * (k % 5)];
    b.particle(at, plus(down(at), [random.between(-0.01, 0.01), random.between(-0.01, 0.01), 0]));
  }
  b.block(
    2,
    (u, v, w) => [0.03 * (u - 0.5), 0.03 * (v - 0.5), 0.025 + 0.03 * w],
    (u, v, w) => [0.03 * (u - 0.5), 0.03 * (v - 0.5), -drop + 0.03 * w],
  );
  return b.build();
}

/** Two kinematic plates close on a cloth: there is not enough room, so they must be held back. */
function pinch(random: Random): ProveScene {
  const b = new Builder();
  const gap = random.between(0.003, 0.01);
  const flat =
    (n: number, z: number) =>
    (u: number, v: number): Point => [n * EDGE * (u - 0.5), n * EDGE * (v - 0.5), z];
  b.sheet(8, 8, flat(8, 0));
  b.sheet(3, 3, flat(6, gap), flat(6, -0.5 * gap), () => true);
  b.sheet(3, 3, flat(7, -gap), flat(7, 0.5 * gap), () => true);
  return b.build();
}

/** Grains that all have the place of another one as their target: only their distance reveals a fault. */
function gatheringGrains(random: Random): ProveScene {
  const b = new Builder();
  for (let k = 0; k < 60; k++) {
    const goal: Point = [random.between(-0.05, 0.05), random.between(-0.05, 0.05), 0.03 * k];
    for (const side of [-1, 1]) b.particle(plus(goal, [0.01 * side, random.between(-0.002, 0.002), 0]), goal);
  }
  return b.build();
}

/** Sheets that pierce each other at the start: the only right answer is a refusal that counts the pairs. */
function crossed(random: Random): ProveScene {
  const b = new Builder();
  const n = 6;
  const flat = (u: number, v: number): Point => [n * EDGE * (u - 0.5), n * EDGE * (v - 0.5), 0];
  b.sheet(n, n, flat);
  const tilt = random.between(0.3, 1.2);
  const shift = random.between(-0.4, 0.4) * EDGE;
  b.sheet(n, n, (u, v) => [
    n * EDGE * (u - 0.5) * Math.cos(tilt) + shift,
    n * EDGE * (v - 0.5) * 0.9 + shift,
    n * EDGE * (u - 0.5) * Math.sin(tilt) + 0.1 * shift,
  ]);
  return b.build();
}

export const GENERATED: Readonly<Record<string, MakeProveScene>> = {
  layers,
  sandInABag,
  matryoshka,
  chain,
  hair,
  spike,
  solids,
  soup,
  twistedTube,
  thinGaps,
  mixed,
  pinch,
  gatheringGrains,
  crossed,
  heldBorders,
  closingGrains,
  slivers,
  hairsBreadth,
  handkerchiefs,
  tangle,
  neighbours,
  bordersUnderBodies,
  longRods,
  slidingGrains,
  grainsOverSails,
  farFlights,
  farLandings,
  departures,
  movingGroups,
  hairlines,
  farGroups,
  closeCalls,
  pebbles,
  wideGround,
  vastGround,
  sewnParts,
  touching,
  strainedSheet,
  laidSheet,
  besideKeptPile,
  besideRestingPile,
  strainedSolid,
  restedSheet,
  changingPlaces,
};

/** Those that intersect at the start. */
export const TANGLED: readonly string[] = ['crossed', 'tangle'];

/** Those that are tried in sessions only: what they show needs the P of an earlier frame. */
export const IN_SESSIONS: readonly string[] = ['changingPlaces'];
