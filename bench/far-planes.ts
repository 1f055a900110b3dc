import './closed-pipe.js';
import { openOperations } from '../examples/resolve-scene.js';
import type { Operations } from '../src/contract/operations.js';
import { SceneBuilder } from '../test/support/scene-builder.js';

/**
 * How near cloth comes to a resting triangle of any size: the table of docs/method.md (Decisions).
 *
 *   node dist/bench/far-planes.js [ENGINE,… [SLOPE,… [EXPONENT,…]]]      default cpu,webgpu 0,1,30 14,16,18,20,22,23,24,26,28,30
 *
 * Cloth with unit edges, at least 0.4 above a triangle with coordinates up to 2^EXPONENT, is sent through it along its
 * normal, in float32. Prints its least distance from the plane at the end, in activation distances, and the touching
 * pairs.
 */

const [engines = 'cpu,webgpu', slopes = '0,1,30', exponents = '14,16,18,20,22,23,24,26,28,30'] = process.argv.slice(2);

type Vector = readonly [number, number, number];

/** Edges of a side of the cloth, its mean height above the plane, and how far it is sent down. Lengths are edges. */
const SIDE = 8;
const ABOVE = 0.6;
const DOWN = 1.5;

/** Sine and cosine with so few bits that the corners of the triangle are float32 numbers of one plane. */
const roundedTo10Bits = (value: number): number => Math.round(1024 * value) / 1024;

function slopeOf(degrees: number): { readonly s: number; readonly c: number; readonly normal: Vector } {
  const s = roundedTo10Bits(Math.sin((degrees * Math.PI) / 180));
  const c = roundedTo10Bits(Math.cos((degrees * Math.PI) / 180));
  const length = Math.hypot(s, c);
  return { s, c, normal: [0, -s / length, c / length] };
}

async function fall(operations: Operations, degrees: number, size: number): Promise<string> {
  const { s, c, normal } = slopeOf(degrees);
  const builder = new SceneBuilder();
  const corners = [
    [-1, -1],
    [1, -1],
    [0.25, 1],
  ].map(([p, q]) => builder.vertex([p * size, q * c * size, q * s * size], undefined, true));
  builder.triangle(corners[0], corners[1], corners[2]);
  const place = (u: number, v: number, height: number): Vector => [
    u,
    v * normal[2] + height * normal[1],
    -v * normal[1] + height * normal[2],
  ];
  const first = builder.sheet(SIDE, (u, v) => {
    const height = ABOVE + 0.2 * Math.sin(9 * u) * Math.cos(7 * v);
    const along = [SIDE * (u - 0.48), SIDE * (v - 0.53)] as const;
    return { at: place(...along, height), to: place(...along, height - DOWN) };
  });
  const { mesh, start, target } = builder.build();
  const { positions, report } = await operations.resolve({
    mesh,
    start: Float32Array.from(start),
    target: Float32Array.from(target),
    parameters: {},
  });
  let least = Number.POSITIVE_INFINITY;
  for (let k = 3 * first; k < positions.length; k += 3) {
    // The plane passes through the origin.
    least = Math.min(least, normal[1] * positions[k + 1] + normal[2] * positions[k + 2]);
  }
  const { status, touchingPairs, resolved } = report;
  return `${(least / resolved.activationDistance).toFixed(3)} δ, ${status}, ${touchingPairs} touching`;
}

for (const engine of engines.split(',')) {
  if (engine !== 'cpu' && engine !== 'webgpu') throw new Error(`An engine is cpu or webgpu, not "${engine}".`);
  const operations = await openOperations(engine, 1);
  try {
    for (const slope of slopes.split(',')) {
      for (const exponent of exponents.split(',')) {
        const line = await fall(operations, Number(slope), 2 ** Number(exponent));
        console.log(`${engine}, slope ${slope}°, 2^${exponent}: ${line}`);
      }
    }
  } finally {
    await operations.close();
  }
}
