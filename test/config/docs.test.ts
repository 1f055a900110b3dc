import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { tabulateConfig } from '../../src/config/describe-settings.js';
import { Metrics } from '../../src/observe/metrics.js';
import { projectRoot } from '../../src/paths.js';
import { sumOfCounts } from '../../src/solver/convoy-counts.js';

/** `UPDATE_DOCS=1 node FILE` updates the table. */
const path = join(projectRoot, 'docs', 'operations.md');
const pattern = /(<!-- generated: settings -->\n)([\s\S]*?)(\n<!-- end -->)/;
if (process.env.UPDATE_DOCS === '1') {
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(pattern, (_all, open, _old, end) => open + tabulateConfig() + end),
  );
}
const guide = readFileSync(path, 'utf8');

t.test('the guide lists the settings of the program', async (t) => {
  t.equal(pattern.exec(guide)?.[2], tabulateConfig());
});

t.test('the guide names exactly the metrics of the program', async (t) => {
  const metrics = new Metrics();
  metrics.watch(() => ({
    waiting: 0,
    running: 0,
    sessions: 0,
    parked: 0,
    residentBytes: 0,
    sharedBytes: 0,
    workBytes: 0,
    deviceBufferBytes: 0,
    scenesTogether: 1,
    convoy: sumOfCounts([]),
    hostBytes: 0,
    pendingJobs: 3,
    endedJobs: 2,
    jobBytes: 700,
  }));
  metrics.watchConnections(() => 0);
  metrics.watchBodies({ bytes: 0, maxBytes: 0 });
  metrics.watchStore(() => true);
  metrics.watchState({ phase: 'ready', inFlight: 0 });
  const own = [...(await metrics.text()).matchAll(/^# TYPE (interstice_\w+)/gm)].map(([, name]) => name).sort();
  const named = [...new Set([...guide.matchAll(/`(interstice_\w+)`/g)].map(([, name]) => name))].sort();
  t.same(named, own);
});
