import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import type { Status } from '../../src/contract/report.js';
import type { Random } from '../support/random.js';
import { type Point, SceneBuilder } from '../support/scene-builder.js';

/** One pair with what must hold of its answer besides safety; every engine runs the same table. */
export interface ResolveCase {
  readonly name: string;
  readonly mesh: MeshInput;
  readonly start: Float64Array;
  readonly target: Float64Array;
  readonly parameters?: ParametersInput;
  readonly status?: Status;
  readonly mostSteps?: number;
  /** every kinematic vertex must stand on its target */
  readonly kinematicArrive?: boolean;
}

const turned = (x: number, z: number, angle: number): readonly [number, number] => [
  x * Math.cos(angle) - z * Math.sin(angle),
  x * Math.sin(angle) + z * Math.cos(angle),
];

/** Two cloths, one above the other, each with its target beyond the other. */
export function stackSwap(n: number, apart = 0.03, edge = 0.01): SceneBuilder {
  const scene = new SceneBuilder();
  for (const layer of [0, 1]) {
    scene.sheet(n, (u, v) => {
      const [x, z] = turned((u - 0.5) * n * edge, (v - 0.5) * n * edge, 0.3 * layer);
      return { at: [x, layer * apart, z], to: [x, (1 - layer) * apart, z] };
    });
  }
  return scene;
}

function clothOverSpike(): SceneBuilder {
  const scene = new SceneBuilder();
  scene.sheet(24, (u, v) => ({ at: [u - 0.5, 0.31, v - 0.5], to: [u - 0.5, 0.31 - 0.25, v - 0.5] }));
  const tip = scene.vertex([0.013, 0.3, 0.007], undefined, true);
  const ring: number[] = [];
  for (let k = 0; k < 12; k++) {
    const angle = (k / 12) * 2 * Math.PI;
    ring.push(scene.vertex([0.1 * Math.cos(angle), 0, 0.1 * Math.sin(angle)], undefined, true));
  }
  for (let k = 0; k < 12; k++) scene.triangle(tip, ring[k], ring[(k + 1) % 12]);
  return scene;
}

function risingPlate(): SceneBuilder {
  const scene = new SceneBuilder();
  scene.sheet(16, (u, v) => ({ at: [u - 0.5, 0.02, v - 0.5], to: [u - 0.5, 0.02, v - 0.5] }));
  scene.sheet(3, (u, v) => ({ at: [u - 0.5, 0, v - 0.5], to: [u - 0.5, 0.2, v - 0.5] }), true);
  return scene;
}

/** Two kinematic plates close on a sheet, to `gap` of each other. */
export function pinch(gap: number): SceneBuilder {
  const n = 6;
  const edge = 0.01;
  const scene = new SceneBuilder();
  const plate = (from: number, to: number, shift: number, isKinematic: boolean) =>
    scene.sheet(
      n,
      (u, v) => {
        const [x, z] = [u * n * edge + shift, v * n * edge + shift];
        return { at: [x, from, z], to: [x, to, z] };
      },
      isKinematic,
    );
  plate(0, 0, 0.003, false);
  plate(-0.007, -gap / 2, 0, true);
  plate(0.007, gap / 2, 0.001, true);
  return scene;
}

function sweptStrands(): SceneBuilder {
  const scene = new SceneBuilder();
  for (let s = 0; s < 24; s++) {
    const left = s % 2 === 0;
    const from = left ? -0.1 : 0.1;
    const points = Array.from({ length: 20 }, (_, k) => {
      const at: Point = [from + 0.001 * (s % 5), -0.01 * k, 0.002 * s];
      const to: Point = [k === 0 ? at[0] : -at[0], at[1], at[2] + 0.006 * Math.sin(k + s)];
      return { at, to };
    });
    scene.strand(points, true);
  }
  return scene;
}

function fallingSand(): SceneBuilder {
  const scene = new SceneBuilder();
  for (let k = 0; k < 8; k++) {
    for (let i = 0; i < 8; i++) {
      for (let j = 0; j < 8; j++) {
        const at: Point = [0.011 * (i - 3.5) + 0.001 * (k % 3), 0.05 + 0.011 * k, 0.011 * (j - 3.5) + 0.0007 * (i % 2)];
        scene.particle(scene.vertex(at, [0.3 * at[0], 0.2 * at[1] - 0.06, 0.3 * at[2]]));
      }
    }
  }
  const bowl = (u: number, v: number): Point => [
    0.3 * (u - 0.5),
    ((u - 0.5) ** 2 + (v - 0.5) ** 2) * 0.4,
    0.3 * (v - 0.5),
  ];
  scene.sheet(6, (u, v) => ({ at: bowl(u, v), to: bowl(u, v) }), true);
  return scene;
}

function blockOnTable(): SceneBuilder {
  const scene = new SceneBuilder();
  scene.block(4, (u, v, w) => ({ at: [0.1 * u, 0.01 + 0.1 * v, 0.1 * w], to: [0.1 * u, 0.1 * v - 0.05, 0.1 * w] }));
  scene.sheet(2, (u, v) => ({ at: [u - 0.5, 0, v - 0.5], to: [u - 0.5, 0, v - 0.5] }), true);
  return scene;
}

function everythingAtOnce(): SceneBuilder {
  const scene = new SceneBuilder();
  scene.sheet(10, (u, v) => ({ at: [u - 0.5, 0, v - 0.5], to: [u - 0.5, 0.1, v - 0.5] }));
  for (let s = 0; s < 6; s++) {
    scene.strand(
      Array.from({ length: 8 }, (_, k) => ({
        at: [-0.4 + 0.1 * k, 0.05, -0.3 + 0.11 * s],
        to: [-0.4 + 0.1 * k, -0.05, -0.3 + 0.11 * s],
      })),
    );
  }
  for (let k = 0; k < 60; k++) {
    const at: Point = [-0.4 + 0.0131 * k, 0.1 + 0.001 * (k % 7), 0.4 * Math.sin(k)];
    scene.particle(scene.vertex(at, [at[0], -0.1, at[2]]));
  }
  scene.block(2, (u, v, w) => ({ at: [0.1 * u, 0.2 + 0.1 * v, 0.1 * w], to: [0.1 * u, 0.1 * v - 0.1, 0.1 * w] }));
  return scene;
}

function singleTriangle(to: (p: Point) => Point): SceneBuilder {
  const scene = new SceneBuilder();
  const corners: Point[] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
  ];
  for (const at of corners) scene.vertex(at, to(at));
  scene.triangle(0, 1, 2);
  return scene;
}

function twoTriangles(gap: number): SceneBuilder {
  const scene = new SceneBuilder();
  scene.vertex([0, 0, 0], [0, 0, 0.5]);
  scene.vertex([1, 0, 0], [1, 0, 0.5]);
  scene.vertex([0, 1, 0], [0, 1, 0.5]);
  scene.vertex([0, 0, gap], [0, 0, -0.5]);
  scene.vertex([1, 0.1, gap], [1, 0.1, -0.5]);
  scene.vertex([0.1, 1, gap], [0.1, 1, -0.5]);
  scene.triangle(0, 1, 2);
  scene.triangle(3, 4, 5);
  return scene;
}

function parallelEdges(): SceneBuilder {
  const scene = new SceneBuilder();
  for (let s = 0; s < 6; s++) {
    scene.strand([0, 1, 2].map((k) => ({ at: [k, 0.05 * s, 0] as Point, to: [k, 0.05 * (5 - s), 0] as Point })));
  }
  return scene;
}

function slivers(): SceneBuilder {
  const scene = new SceneBuilder();
  for (let s = 0; s < 12; s++) {
    const y = 0.002 * s;
    const a = scene.vertex([0, y, 0.1 * Math.sin(s)], [0, 0.02 - y, 0.1 * Math.sin(s)]);
    const b = scene.vertex([1, y, 0.1 * Math.cos(s)], [1, 0.02 - y, 0.1 * Math.cos(s)]);
    const c = scene.vertex([0.5, y + 1e-5, 0.05 * (Math.sin(s) + Math.cos(s)) + 1e-6 * s], [0.5, 0.02 - y, 0]);
    scene.triangle(a, b, c);
  }
  return scene;
}

function coincidentTargets(): SceneBuilder {
  const scene = new SceneBuilder();
  scene.sheet(8, (u, v) => ({ at: [u, 0, v], to: [0.5, 0.5, 0.5] }));
  scene.sheet(8, (u, v) => ({ at: [u, 0.3, v], to: [0.5, 0.5, 0.5] }));
  return scene;
}

/** A kinematic edge rises into a triangle through its kinematic side; the third corner is dynamic. */
export function edgeIntoBorder(): SceneBuilder {
  const scene = new SceneBuilder();
  const held: Point[] = [
    [0, 0, 0],
    [1, 0, 0],
  ];
  const [a, b] = held.map((at) => scene.vertex(at, at, true));
  scene.triangle(a, b, scene.vertex([0.5, 1, 0]));
  const rising: Point[] = [
    [0.5, -0.2, 0.3],
    [0.5, -0.2, -0.3],
    [0.5, -1, 0],
  ];
  const [c, d, e] = rising.map(([x, y, z]) => scene.vertex([x, y, z], [x, y + 0.5, z], true));
  scene.triangle(c, d, e);
  return scene;
}

/**
 * A cloth hangs from a band of two kinematic rows that a kinematic plate crosses from start to end, between the rows.
 * Band and plate move on, each its own way, and the cloth with them.
 */
export function crossedWaistband(): SceneBuilder {
  const scene = new SceneBuilder();
  const [across, down, edge] = [8, 8, 0.1];
  const id: number[][] = [];
  for (let j = 0; j <= down; j++) {
    const row = Array.from({ length: across + 1 }, (_, i): Point => [edge * (i - across / 2), -edge * j, 0]);
    id.push(row.map(([x, y, z]) => scene.vertex([x, y, z], [x + 0.2, y, z + 0.1], j < 2)));
  }
  for (let j = 0; j < down; j++) {
    for (let i = 0; i < across; i++) {
      scene.triangle(id[j][i], id[j][i + 1], id[j + 1][i]);
      scene.triangle(id[j][i + 1], id[j + 1][i + 1], id[j + 1][i]);
    }
  }
  const plate = (u: number, v: number): Point => [1.7 * (u - 0.5), -0.05, 0.6 * (v - 0.5)];
  const tilted = (u: number, v: number): Point => [1.7 * (u - 0.5), -0.05 + 0.02 * u, 0.6 * (v - 0.5)];
  scene.sheet(4, (u, v) => ({ at: plate(u, v), to: tilted(u, v) }), true);
  return scene;
}

/** A sheet of n × n quads whose vertices go to random places within `spread` edges of its middle, on each axis. */
export function scatteredSheet(n: number, spread: number, random: Random): SceneBuilder {
  const scene = new SceneBuilder();
  const draw = (): number => random.between(-spread, spread) / n;
  scene.sheet(n, (u, v) => ({ at: [u - 0.5, v - 0.5, 0], to: [draw(), draw(), draw()] }));
  return scene;
}

/** A triangle's edge rises into another triangle through a side whose part it ignores; the third corner is in a third part. */
export function edgeIntoSeam(): SceneBuilder {
  const scene = new SceneBuilder();
  const [a, b] = [scene.vertex([0, 0, 0]), scene.vertex([1, 0, 0])];
  scene.part('side');
  scene.triangle(a, b, scene.vertex([0.5, 1, 0]));
  scene.part('corner');
  const rising: Point[] = [
    [0.5, -0.2, 0.3],
    [0.5, -0.2, -0.3],
    [0.5, -1, 0],
  ];
  const [c, d, e] = rising.map(([x, y, z]) => scene.vertex([x, y, z], [x, y + 0.5, z]));
  scene.triangle(c, d, e);
  scene.part('rising');
  scene.ignoreParts(0, 2);
  return scene;
}

/**
 * Two panels, sewn together along one side, that lie on one another and ignore each other, and a ball's worth of sheet
 * below that ignores one of them: the pocket closes, the panels pass through each other, the seam does not.
 */
export function sewnPocket(): SceneBuilder {
  const scene = new SceneBuilder();
  const n = 10;
  const upper = scene.sheet(n, (u, v) => ({ at: [u, 0.1 + 0.2 * v, v], to: [u, -0.1 - 0.2 * v, v] }));
  scene.part('upper');
  const lower = scene.sheet(n, (u, v) => ({ at: [u, -0.1 - 0.2 * v, v], to: [u, 0.1 + 0.2 * v, v] }));
  scene.part('lower');
  for (let i = 0; i < n; i++) {
    const [a, b] = [i * (n + 1), (i + 1) * (n + 1)];
    scene.triangle(upper + a, upper + b, lower + a);
    scene.triangle(upper + b, lower + b, lower + a);
  }
  scene.sheet(4, (u, v) => ({ at: [u, -0.6, v], to: [u, 0.3, v] }));
  scene.part('below');
  scene.ignoreParts(0, 1);
  scene.ignoreParts(1, 2);
  return scene;
}

const made = (scene: SceneBuilder) => scene.build();

export const CASES: readonly ResolveCase[] = [
  { name: 'stack swap', ...made(stackSwap(16)), status: 'CONVERGED', mostSteps: 39 },
  { name: 'cloth over a spike', ...made(clothOverSpike()), status: 'CONVERGED', kinematicArrive: true },
  { name: 'a plate rises under a cloth', ...made(risingPlate()), status: 'CONVERGED', kinematicArrive: true },
  { name: 'strands swept through each other', ...made(sweptStrands()), status: 'CONVERGED', mostSteps: 100 },
  { name: 'sand falls into a bowl', ...made(fallingSand()), status: 'CONVERGED' },
  { name: 'a solid on a table', ...made(blockOnTable()), status: 'CONVERGED' },
  { name: 'cloth, rods, sand and a solid', ...made(everythingAtOnce()) },
  { name: 'a lone triangle', ...made(singleTriangle(([x, y, z]) => [x + 3, y, z])), status: 'CONVERGED' },
  { name: 'a lone triangle turned inside out', ...made(singleTriangle(([x, y, z]) => [y, x, z])), status: 'CONVERGED' },
  { name: 'a target 1e12 extents away', ...made(singleTriangle(([x, y, z]) => [x + 1e12, y, z])) },
  { name: 'two triangles 2e-5 apart', ...made(twoTriangles(2e-5)), parameters: { activationDistance: 1e-3 } },
  { name: 'parallel rods', ...made(parallelEdges()), status: 'CONVERGED' },
  { name: 'slivers', ...made(slivers()), status: 'CONVERGED' },
  { name: 'all targets in one point', ...made(coincidentTargets()) },
  {
    name: 'a kinematic edge into the kinematic side of a triangle',
    ...made(edgeIntoBorder()),
    parameters: { activationDistance: 0.05 },
  },
  {
    name: 'an edge into a side that it ignores, of a triangle that it does not',
    ...made(edgeIntoSeam()),
    parameters: { activationDistance: 0.05 },
  },
  { name: 'a pocket whose panels ignore each other', ...made(sewnPocket()), parameters: { activationDistance: 0.01 } },
  {
    name: 'a waistband that a plate crosses',
    ...made(crossedWaistband()),
    parameters: { activationDistance: 0.01 },
    status: 'CONVERGED',
    mostSteps: 20,
    kinematicArrive: true,
  },
];

/** A random small scene: free triangles, strands and particles scattered without touching, with wild targets. */
export function randomScene(random: Random): SceneBuilder {
  const scene = new SceneBuilder();
  const cells = 4;
  const style = random.int(5);
  const wild = [0.3, 1, 3, 30, 1e6][random.int(5)];
  const flat = random() < 0.3 ? 1e-4 : 1;
  const place = (cx: number, cy: number, cz: number): Point => [
    cx + 0.9 * random(),
    cy + 0.9 * flat * random(),
    cz + 0.9 * random(),
  ];
  const common: Point = [random.between(-3, 3), random.between(-3, 3), random.between(-3, 3)];
  const aim = (at: Point): Point => {
    if (style === 0) return common;
    if (style === 1) return [-at[0], -at[1], -at[2]];
    if (style === 2 && random() < 0.3) return at;
    const jump = (): number => wild * random.between(-1, 1);
    return [at[0] + jump(), at[1] + jump(), at[2] + jump()];
  };
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < cells; j++) {
      for (let k = 0; k < cells; k++) {
        const kinematic = random() < 0.15;
        const isMixed = random() < 0.25;
        const point = (): number => {
          const at = place(i, j * (flat < 1 ? 0.01 : 1), k);
          return scene.vertex(at, aim(at), isMixed ? random() < 0.7 : kinematic);
        };
        const kind = random.int(6);
        if (kind < 3) scene.triangle(point(), point(), point());
        else if (kind === 3) scene.segment(point(), point());
        else if (kind === 4) scene.particle(point());
        else {
          const a = point();
          const b = point();
          scene.triangle(a, b, point());
          scene.segment(b, point());
        }
      }
    }
  }
  return scene;
}
