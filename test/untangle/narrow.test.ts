import t from 'tap';
import { foldAndCopy } from '../../bench/untangle/folds.js';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';
import { RULES } from './dent.js';

t.setTimeout(600_000);

t.test('walls of a fold that went through each other are drawn apart', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const { mesh, positions } = foldAndCopy(0.7).make(random);
  const { report, positions: answer } = await untangleOne({ mesh, positions }, createCpuEngine());
  const own = report.contours.filter(({ sheets: [a, b] }) => a.part === 'copy' && b.part === 'copy');
  t.ok(own.length > 0 && own.some(({ kind }) => kind === 'LOOP'));
  for (const { why, confidence, sheets } of own) {
    t.equal(why, 'SMALLER');
    t.ok(confidence > 0.6, 'the walls have less area between them than behind them');
    // The fold opens along the normals of the sheet, so each wall belongs on that side of the other one.
    t.same(
      sheets.map(({ side }) => side),
      ['ALONG_NORMALS', 'ALONG_NORMALS'],
    );
  }
  t.equal(report.status, 'FREE');
  t.equal(findIntersections(buildMesh(mesh), answer, RULES).intersectionCount, 0);
});
