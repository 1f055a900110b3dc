import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { type Random, seeded } from '../support/random.js';
import { diagnose, requestOf, type Shape } from './shapes.js';

const ODD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, 1e-300, -0, 1e20];

/** A coordinate that is mostly ordinary, from a few values so that vertices coincide. */
const coordinate = (random: Random, odd: number): number =>
  random() < odd ? ODD[random.int(ODD.length)]! : random() < 0.5 ? random.int(3) : random.between(-1, 1);

t.test('whatever a mesh holds, it is diagnosed, or refused with a code', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (let round = 0; round < 250; round++) {
    const count = 1 + random.int(12);
    const odd = random() < 0.5 ? 0 : 0.05;
    const ids = (n: number): number[] => Array.from({ length: n }, () => random.int(count + (random() < 0.1 ? 2 : 0)));
    const shape: Shape = {
      x: Array.from({ length: 3 * count }, () => coordinate(random, odd)),
      triangles: ids(3 * random.int(10)),
    };
    const { mesh } = requestOf(shape);
    const more = {
      mesh: {
        ...mesh,
        segments: Uint32Array.from(ids(2 * random.int(4))),
        particles: Uint32Array.from(ids(random.int(4))),
        tetrahedra: Uint32Array.from(ids(4 * random.int(3))),
        kinematic: Uint8Array.from({ length: count }, () => random.int(2)),
      },
      ...(random() < 0.5 ? { target: Float64Array.from(shape.x, (v) => v * coordinate(random, odd)) } : {}),
    };
    try {
      const { findings, accepted, regions } = await diagnose(shape, more);
      const areNumbers = [
        ...findings.map(({ measure }) => measure ?? 0),
        ...regions.flatMap(({ size, depth, centre }) => [size, depth, ...centre]),
      ].every((value) => Number.isFinite(value));
      if (!areNumbers) t.fail(`round ${round}: a measure is not finite: ${JSON.stringify(findings)}`);
      if (!accepted && !findings.some(({ severity }) => severity === 'PROBLEM'))
        t.fail(`round ${round}: refused without a reason`);
    } catch (thrown) {
      if (!(thrown instanceof IntersticeError) || thrown.code === 'INTERNAL')
        t.fail(`round ${round}: ${(thrown as Error).stack}`);
    }
  }
  t.pass('all rounds');
});
