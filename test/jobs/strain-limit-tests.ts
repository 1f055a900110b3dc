import type { Test } from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { findStrainedElements, STRAIN_TOLERANCE } from '../../src/jobs/strained-elements.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { Engine } from '../../src/solver/engine.js';
import { refusalOf, runJob } from '../support/job.js';
import { seeded } from '../support/random.js';
import { flatSheet, scaled, tetrahedralBlock } from '../support/sheet.js';

const sheet = flatSheet(12, 9, 0.01);
const pressed = scaled(sheet.rest, [2, 0.5, 1]);

/** Triangles of a sheet in the plane whose normal points down. */
function countFlipped(x: ArrayLike<number>, triangles: Uint32Array): number {
  let flipped = 0;
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [3 * triangles[k]!, 3 * triangles[k + 1]!, 3 * triangles[k + 2]!];
    const area = (x[b]! - x[a]!) * (x[c + 1]! - x[a + 1]!) - (x[b + 1]! - x[a + 1]!) * (x[c]! - x[a]!);
    if (area <= 0) flipped++;
  }
  return flipped;
}

/** The table of cases of strain limits, for every engine that keeps them. */
export function testStrainLimits(t: Test, engine: Engine): void {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const resolve = (mesh: MeshInput, start: Float32Array, target: Float32Array, parameters: ParametersInput = {}) =>
    runJob({ mesh, start, target, parameters }, engine);

  t.test(
    'a sheet stretched to twice its length and compressed to half its height keeps its strains within 1 %',
    async (t) => {
      const { vertexCount, triangles, rest } = sheet;
      const mesh = { vertexCount, triangles, strainLimits: { rest, min: 0.99, max: 1.01 } };
      // From the sheet at rest, and from the target itself, which is far out of the limits.
      for (const start of [rest, pressed]) {
        const { answer } = await resolve(mesh, start, pressed);
        const { strain, warnings } = answer.report;
        t.equal(strain?.violated, 0);
        t.ok(
          strain!.min >= 0.99 - STRAIN_TOLERANCE && strain!.max <= 1.01 + STRAIN_TOLERANCE,
          `${strain!.min} ${strain!.max}`,
        );
        t.notOk(strain!.worst);
        t.equal(countFlipped(answer.positions, triangles), 0);
        t.notOk(warnings.some(({ code }) => code === 'STRAINED_ELEMENTS'));
        t.equal(answer.report.overlongEdges, 0);
        // As long as the limits allow, and no longer: the sheet is not merely left where it is.
        const xs = Array.from({ length: vertexCount }, (_, v) => answer.positions[3 * v]!);
        const length = Math.max(...xs) - Math.min(...xs);
        t.ok(length > 1.005 * 0.12 && length < 1.0101 * 0.12, `${length}`);
      }
    },
  );

  t.test('a shape at rest in another unit than the positions is refused, with the element', async (t) => {
    const { vertexCount, triangles, rest } = flatSheet(2, 1, 0.01);
    const shrunk = (factor: number) => {
      const mesh = {
        vertexCount,
        triangles,
        strainLimits: { rest: scaled(rest, [factor, factor, factor]), max: 1.05 },
      };
      return resolve(mesh, rest, rest, { stepLimit: 2 });
    };
    for (const factor of [1e-20, 2 ** -32]) {
      const refusal = await refusalOf(shrunk(factor));
      t.match(refusal, { code: 'INVALID_PARAMETER', element: { kind: 'triangle' } });
      t.match(refusal.message, /mesh\.strainLimits\.rest/);
    }
    t.equal((await shrunk(2 ** -29)).answer.report.strain?.violated, triangles.length / 3, 'any unit of length passes');
  });

  t.test('limits hold together with contacts: a sheet that is pulled through a floor and stretched', async (t) => {
    const { vertexCount, triangles, rest } = sheet;
    const floor = [-0.2, -0.2, 0.2, -0.2, 0.2, 0.2, -0.2, 0.2];
    const all = new Float32Array(3 * (vertexCount + 4));
    all.set(rest.map((value, k) => value + (k % 3 === 2 ? 0.003 : 0)));
    for (let k = 0; k < 4; k++) all.set([floor[2 * k]!, floor[2 * k + 1]!, 0], 3 * (vertexCount + k));
    const target = all.slice();
    for (let v = 0; v < vertexCount; v++) {
      target[3 * v]! *= 1.5;
      target[3 * v + 2]! -= 0.01 * (1 + Math.sin(0.5 * v));
    }
    const kinematic = new Uint8Array(vertexCount + 4).fill(1, vertexCount);
    const f = vertexCount;
    const mesh = {
      vertexCount: vertexCount + 4,
      triangles: Uint32Array.of(...triangles, f, f + 1, f + 2, f, f + 2, f + 3),
      kinematic,
      strainLimits: { rest: all, min: 0.9, max: 1.05 },
    };
    const { answer } = await resolve(mesh, all, target);
    t.equal(answer.report.verification.intersections, 0);
    t.equal(answer.report.strain?.violated, 0, JSON.stringify(answer.report.strain));
    for (let v = 0; v < vertexCount; v++) t.ok(answer.positions[3 * v + 2]! > 0);
  });

  t.test('a target that crumples a sheet is approached as far as its limits allow', async (t) => {
    const { vertexCount, triangles, rest } = sheet;
    const edge = 0.01;
    const mesh = { vertexCount, triangles, strainLimits: { rest, min: 0.9, max: 1.1 } };
    // A sheet that stays flat may come as near as the mean of each vertex allows: far targets leave only the noise.
    for (const [noise, lift, most] of [
      [0.6 * edge, 0, 0.85],
      [2 * edge, 3 * edge, 0.6],
    ] as const) {
      const target = rest.map((value, k) => value + (k % 3 === 2 ? lift : 0) + noise * random.between(-1, 1));
      const { answer } = await resolve(mesh, rest, target);
      const { strain, status, distanceToTargetRms } = answer.report;
      const before = Math.sqrt(rest.reduce((sum, value, k) => sum + (value - target[k]!) ** 2, 0) / vertexCount);
      t.equal(status, 'CONVERGED');
      t.equal(strain?.violated, 0);
      t.ok(distanceToTargetRms < most * before, `${distanceToTargetRms} of ${before}`);
    }
  });

  t.test(
    'steps that only regain what the limits take are not repeated: a sheet that falls from two pins',
    async (t) => {
      const { vertexCount, triangles, rest } = flatSheet(12, 12);
      const kinematic = Uint8Array.from({ length: vertexCount }, (_, v) =>
        Math.abs(rest[3 * v]!) === 6 && rest[3 * v + 1] === 6 ? 1 : 0,
      );
      const mesh = { vertexCount, triangles, kinematic, strainLimits: { rest, min: 0.95, max: 1.05 } };
      let [before, x]: readonly ArrayLike<number>[] = [rest, rest];
      let [steps, squared] = [0, 0];
      for (let frame = 0; frame < 20; frame++) {
        const fallen = (value: number, k: number) =>
          kinematic[Math.floor(k / 3)] ? value : 2 * value - before![k]! - (k % 3 === 2 ? 0.03 : 0);
        const start = Float32Array.from(x!);
        const { positions, report } = (await resolve(mesh, start, start.map(fallen))).answer;
        t.equal(report.strain?.violated, 0);
        [before, x] = [start, positions];
        steps += report.steps;
        squared += report.distanceToTargetRms ** 2;
      }
      t.comment(`${steps} steps, Σ rms² ${squared}`);
      t.ok(steps < 240, `${steps} steps`);
      t.ok(squared < 0.0325, `${squared}`);
    },
  );

  t.test('a solid that is squeezed and turned inside out keeps its orientation', async (t) => {
    const { vertexCount, rest, tetrahedra } = tetrahedralBlock(3);
    const mesh = { vertexCount, tetrahedra, strainLimits: { rest, min: 0.8, max: 1.2 } };
    for (const factors of [
      [2, 0.5, 1],
      [1, 1, -0.5],
    ] as const) {
      const { answer } = await resolve(mesh, rest, scaled(rest, factors));
      const { strain } = answer.report;
      t.equal(strain?.inverted, 0);
      t.equal(strain?.violated, 0, JSON.stringify(strain));
    }
    // Without limits the target of the second case is turned inside out.
    const found = findStrainedElements(buildMesh(mesh), scaled(rest, [1, 1, -0.5]), { origin: [0, 0, 0], scale: 1 });
    t.equal(found?.inverted, tetrahedra.length / 4);
    t.ok(Math.abs(found!.worst!.strain + 0.5) < 1e-6);
  });

  t.test('a sheet that is pulled down over a post goes on after steps that exceed its limits', async (t) => {
    const { vertexCount: own, triangles: cloth, rest: flat } = flatSheet(6, 6);
    const rest = Float32Array.from([...flat, -0.4, -0.4, -2.3, 0.4, -0.4, -2.3, 0, 0.5, -2.3, 0.05, 0.1, -0.3]);
    const post = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3].map((v) => own + v);
    const triangles = Uint32Array.from([...cloth, ...post]);
    const kinematic = Uint8Array.from({ length: own + 4 }, (_, v) => (v < own ? 0 : 1));
    const mesh = { vertexCount: own + 4, triangles, kinematic, strainLimits: { rest, min: 0.99, max: 1.01 } };
    const target = rest.map((value, k) => (k < 3 * own && k % 3 === 2 ? value - 2 : value));
    const { report } = (await resolve(mesh, rest, target)).answer;
    t.equal(report.strain?.violated, 0);
    t.comment(`rms ${report.distanceToTargetRms}`);
    t.ok(report.distanceToTargetRms < 1, `${report.distanceToTargetRms}`);
  });

  t.test(
    'random targets, pins and parts: nothing intersects, and strains that exceed their limits are counted and named',
    async (t) => {
      for (let n = 0; n < 4; n++) {
        const { vertexCount, triangles, rest } = sheet;
        const kinematic = Uint8Array.from({ length: vertexCount }, () => (random() < 0.05 ? 1 : 0));
        const half = Math.floor(vertexCount / 2);
        const parts = [
          { name: 'stiff', firstVertex: 0, vertexCount: half, strainMax: 1.02 },
          { name: 'soft', firstVertex: half, vertexCount: vertexCount - half },
        ];
        const mesh = { vertexCount, triangles, kinematic, parts, strainLimits: { rest, min: 0.8, max: 1.2 } };
        const target = rest.map((value) => value + random.between(-0.008, 0.008));
        for (let v = 0; v < vertexCount; v++) if (kinematic[v]) target.set(rest.subarray(3 * v, 3 * v + 3), 3 * v);
        const { answer } = await resolve(mesh, rest, target);
        const { strain, warnings } = answer.report;
        t.equal(answer.report.verification.intersections, 0);
        t.equal(strain!.violated > 0, strain!.worst !== undefined);
        t.equal(
          warnings.some(({ code }) => code === 'STRAINED_ELEMENTS'),
          strain!.violated > 0,
        );
        t.ok(strain!.violated <= 5, `${n}: ${JSON.stringify(strain)}`);
      }
    },
  );
}
