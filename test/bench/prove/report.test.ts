import t from 'tap';
import { countFindings, type ProveReport, renderReport, tallyOf } from '../../../bench/prove/report.js';

const run = {
  engine: 'cpu',
  seconds: 1,
  cases: 7,
  later: 0,
  failed: 0,
  answers: 9,
  steps: 1,
  reused: 1,
  pieces: 1,
  ignoring: 1,
  checks: 1,
  sessions: true,
  endings: { CONVERGED: 9 },
  byScene: { soup: 7 },
  byWay: { 'GRPC SESSION': 7 },
  findings: [],
};
const mutant = { name: 'm', fault: 'f', files: ['a.js'], result: 'CAUGHT', by: '<b>', cases: 1, seconds: 1 } as const;
const fault = { engine: 'cpu', name: 'n', result: 'HELD', details: '' } as const;
const none = { atFirst: undefined, atLast: undefined };
const soak = {
  engine: 'cpu',
  seconds: 1,
  answers: 1,
  sessions: 1,
  resident: { atFirst: 2 ** 20, atLast: 2 ** 21 },
  device: none,
  host: none,
  processor: none,
  resolveLatency: none,
  stepLatency: none,
  machine: none,
  findings: [],
};
const report: ProveReport = {
  date: '',
  version: '',
  algorithmVersion: '',
  command: '',
  seed: 1,
  seconds: 1,
  machine: undefined,
  notes: [],
  runs: [run],
  mutants: [mutant],
  faults: [fault, { ...fault, result: 'SKIPPED' }],
  soaks: [soak],
  findings: 0,
};

t.test('every case, mutant, fault and soak counts as one', async (t) => {
  t.equal(tallyOf(report), '10 passed, 0 failed, 1 skipped');
  t.equal(countFindings(report), 0);
  const bad: ProveReport = {
    ...report,
    runs: [{ ...run, failed: 1 }],
    mutants: [{ ...mutant, result: 'MISSED' }],
    faults: [{ ...fault, result: 'BROKEN' }],
    soaks: [{ ...soak, findings: ['a leak'] }],
  };
  t.equal(tallyOf(bad), '6 passed, 4 failed, 0 skipped');
  t.equal(countFindings(bad), 3, 'a case is counted by its findings');
});

t.test('the page shows the figures, and escapes what it quotes', async (t) => {
  const page = renderReport(report);
  t.match(page, '1.0 MiB → 2.0 MiB');
  t.match(page, 'GRPC SESSION 7');
  t.match(page, '1 of 1 caught');
  t.match(page, '1 held, 0 broken, 1 do not apply');
  t.match(page, '&lt;b&gt;');
  t.notMatch(page, '<b>');
});
