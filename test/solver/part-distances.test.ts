import t from 'tap';
import type { IntersticeError } from '../../src/contract/errors.js';
import type { PartInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { checkPartDistances, distancesByVertex, rangeOfDistances } from '../../src/solver/part-distances.js';
import { makeSettings } from '../support/settings.js';

const MEASURES = { medianEdge: 1, typicalEdge: 1, minHeight: 1, bounds: [0, 0, 0, 10, 10, 10], warnings: [] } as const;

const meshOf = (...distances: (number | undefined)[]) => {
  const parts: PartInput[] = distances.map((activationDistance, k) => ({
    name: `part ${k}`,
    firstVertex: 3 * k,
    vertexCount: 3,
    ...(activationDistance === undefined ? {} : { activationDistance }),
  }));
  const triangles = Uint32Array.from({ length: 3 * parts.length }, (_, k) => k);
  return buildMesh({ vertexCount: 3 * parts.length, triangles, parts });
};

const check = (mesh: ReturnType<typeof meshOf>, input: ParametersInput = {}) =>
  checkPartDistances(mesh, resolveParameters(input, MEASURES).parameters, MEASURES);

t.test('parts without a distance of their own take that of the parameters', async (t) => {
  t.same(rangeOfDistances(meshOf(0.3, undefined), 0.1), { smallest: 0.1, largest: 0.3 });
  t.same(rangeOfDistances(meshOf(0.3, 0.2), 0.1), { smallest: 0.2, largest: 0.3 }, 'which may be nobody’s');
  const none = buildMesh({ vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) });
  t.same(rangeOfDistances(none, 0.1), { smallest: 0.1, largest: 0.1 });
});

t.test('distances are given by vertex in engine units', async (t) => {
  const settings = makeSettings({ delta: 0.5, scale: 4 });
  t.same(distancesByVertex(meshOf(0.25, undefined), settings), Float32Array.of(1, 1, 1, 0.5, 0.5, 0.5));
  t.equal(distancesByVertex(meshOf(undefined, undefined), settings), undefined);
});

t.test('invalid distances are refused with the path of the field', async (t) => {
  const refusal = (work: () => unknown): Partial<IntersticeError> => {
    try {
      work();
    } catch (error) {
      return error as IntersticeError;
    }
    throw new Error('accepted');
  };
  for (const distance of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.match(
      refusal(() => meshOf(0.1, distance)),
      {
        code: 'INVALID_PARAMETER',
        message: /^mesh\.parts\[1\]\.activationDistance is/,
        element: { kind: 'part', index: 1 },
      },
    );
  }
  t.match(
    refusal(() => check(meshOf(1e9))),
    { code: 'INVALID_PARAMETER', message: /parts\[0\]\.activationDistance is 1000000000; it must be at most 10000000/ },
  );
  const paper = { preset: 'PAPER', activationDistance: 0.1 } as const;
  t.same(check(meshOf(0.2), paper), []);
  t.match(
    refusal(() => check(meshOf(0.21), paper)),
    { code: 'INVALID_PARAMETER', message: /at most searchRadiusMin, 0\.2/ },
  );
});

t.test('a part that pushes its own neighbours apart is named', async (t) => {
  t.match(check(meshOf(0.1, 0.6)), [{ code: 'DELTA_ABOVE_HALF_EDGE', message: /"part 1"/, element: { index: 1 } }]);
  t.same(check(meshOf(0.5)), []);
});
