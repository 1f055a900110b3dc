import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { Metrics } from '../../src/observe/metrics.js';
import { projectRoot } from '../../src/paths.js';
import { bodyLedger, noStats } from './known-metrics.js';
import { lacksPromtool } from './promtool.js';

const folder = join(projectRoot, 'deploy', 'monitoring');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
}
const rules = (parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert }) => alert ?? []);

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}
const panels = (JSON.parse(read('dashboard.json')) as { panels: Panel[] }).panels;

t.test('rules and dashboard use metrics that the service has, and recorded ones that the rules have', async (t) => {
  const metrics = new Metrics();
  metrics.watch(noStats);
  metrics.watchState({ phase: 'ready', inFlight: 0 });
  metrics.watchConnections(() => 0);
  metrics.watchBodies(bodyLedger);
  metrics.watchStore(() => true);
  const served = new Set([...(await metrics.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  let seen = 0;
  for (const expr of expressions) {
    for (const [name] of expr.matchAll(/\b(?:interstice|process|nodejs)[_:][\w:]+/g)) {
      seen++;
      const isKnown = name.includes(':')
        ? recorded.has(name)
        : served.has(name.replace(/_(bucket|sum|count)$/, '')) || served.has(name);
      t.ok(isKnown, `${name} in ${expr.trim().split('\n')[0]}`);
    }
  }
  t.ok(seen > 30 && panels.every(({ targets }) => targets.length > 0), `${seen} names`);
});

t.test('every alert has a paragraph in the guide, and every such paragraph has an alert', async (t) => {
  const page = readFileSync(join(projectRoot, 'docs', 'operations.md'), 'utf8');
  const told = [...page.matchAll(/^#### (Interstice\w+)/gm)].map(([, name]) => name);
  t.same([...told].sort(), [...alerts].sort());
  const pages = rules.filter(({ labels }) => labels?.severity === 'page').map(({ alert }) => alert);
  const [called] = page.split('### Tickets');
  for (const name of pages) t.ok(called.includes(`#### ${name}`), `${name} stands among the pages`);
});

t.test(
  'promtool accepts the files, and the alerts fire and stay quiet as their tests say',
  { skip: lacksPromtool },
  async (t) => {
    for (const command of ['check config prometheus.yml', 'check rules alerts.yml', 'test rules alerts.test.yml']) {
      const { status, stdout, stderr } = spawnSync('promtool', command.split(' '), { cwd: folder, encoding: 'utf8' });
      t.equal(status, 0, `promtool ${command}: ${stdout}${stderr}`);
    }
    const tested = new Set([...read('alerts.test.yml').matchAll(/alertname: (\w+)/g)].map(([, name]) => name));
    for (const name of alerts) t.ok(tested.has(name), `${name} has a test`);
  },
);
