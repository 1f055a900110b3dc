import t from 'tap';
import type { WireReport } from '../../../../bench/prove/doors/door.js';
import { isAsNearAsCanBe, judgeNearness, NEAR } from '../../../../bench/prove/judge/nearness-judge.js';
import { Excused } from '../../../../bench/prove/judge/promises.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';

const surface = readSurface({ vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) });
const start = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
const moved = start.map((p) => p + 9);

const resolved = { activationDistance: 0.1, leap: 2, quality: 'BALANCED', preset: 'TUNED' };
const none = new Excused([]);
const reportOf = (distanceToTargetRms: number, own: object = {}, parameters: object = {}) =>
  ({
    status: 'CONVERGED',
    steps: 3,
    distanceToTargetRms,
    ...own,
    resolved: { ...resolved, ...parameters },
  }) as WireReport;

t.test(
  'an answer that is less than half as far from its target when that is sent again was not as near as it can be',
  async (t) => {
    const judge = (first: number, next: number, excused = [none, none]): string[] => {
      const found: string[] = [];
      const answers = [first, next].map((away, k) => ({ report: reportOf(away), excused: excused[k] }));
      judgeNearness(answers[0], answers[1], (promise) => found.push(promise));
      return found;
    };
    t.same(judge(1, 0.49), [NEAR]);
    t.same(judge(1, 0.51), []);
    t.same(judge(1, 1.5), [], 'opening contacts may lead away');
    t.same(judge(0.09, 0), [], 'by less than δ');
    const [one, same, more] = [[3], [3], [3, 4]].map(
      (vertices) => new Excused(vertices.map((v) => ({ a: [v], b: [0, 1, 2] }))),
    );
    t.same(judge(1, 0.49, [one, same]), [NEAR], 'although a pair is excluded in both requests');
    t.same(judge(1, 0.49, [none, one]), [], 'a pair that is excluded in the second one only may have held it');
    t.same(judge(1, 0.49, [more, one]), [NEAR], 'one that is excluded in the first one only has not held it');
  },
);

t.test(
  'only converged answers of the pull-back promise it, unless something else goes on or targets are scattered',
  async (t) => {
    const promises = (own: object, parameters: object = {}, target = moved): boolean =>
      isAsNearAsCanBe(surface, start, target, reportOf(1, own, parameters));
    t.ok(promises({}));
    for (const status of ['STALLED', 'STEP_LIMIT', 'DEADLINE']) t.notOk(promises({ status }), status);
    for (const code of ['TARGET_OUT_OF_RANGE', 'TOUCHING_PAIRS']) t.notOk(promises({ warnings: [{ code }] }), code);
    t.ok(promises({ warnings: [{ code: 'THIN_GAP' }] }));
    t.notOk(promises({}, { quality: 'FAST' }));
    t.notOk(promises({}, { preset: 'PAPER' }));
    t.notOk(promises({}, { method: 'VOLUME_IMPULSES' }));
    const torn = start.map((p, i) => p + (i < 3 ? 9 : 0));
    t.notOk(promises({}, {}, torn), 'two of three edges are torn apart');
  },
);
