import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config/config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { projectRoot } from '../../src/paths.js';
import { lacksPromtool } from './promtool.js';

const folder = join(projectRoot, 'deploy', 'kubernetes');
const read = (path: string): string => readFileSync(join(folder, path), 'utf8');

/** What the checks read of an object; the rest of it is Kubernetes' own. */
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Record<string, unknown>;
}
interface Kustomization {
  readonly resources: string[];
  readonly configMapGenerator: { name: string; literals: string[] }[];
  readonly labels: { pairs: Record<string, string>; includeSelectors: boolean }[];
  readonly patches: { target: { kind: string } }[];
}

const base = parse(read('base/kustomization.yml')) as Kustomization;
const gpu = parse(read('gpu/kustomization.yml')) as Kustomization;
const resources = base.resources.flatMap((name) =>
  parseAllDocuments(read(join('base', name))).map((document) => document.toJS() as Resource),
);
const only = (kind: string, name = 'interstice'): Resource => {
  const found = resources.find((resource) => resource.kind === kind && resource.metadata.name === name);
  if (!found) throw new Error(`No ${kind} ${name}.`);
  return found;
};

/** The part at a path of keys and indices. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)?.[key], value);
}

const settingsOf = (...files: Kustomization[]): Record<string, string> =>
  Object.fromEntries(
    files.flatMap(({ configMapGenerator }) =>
      configMapGenerator.flatMap(({ literals }) => literals.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    ),
  );

t.test('the settings of both profiles are settings of the service, and it accepts them', async (t) => {
  const known = new Set(Object.values(SETTINGS).map(({ name }) => name));
  for (const settings of [settingsOf(base), settingsOf(base, gpu)]) {
    for (const name of Object.keys(settings)) t.ok(known.has(name), name);
    t.doesNotThrow(() => readConfig({ ...settings, INTERSTICE_HOST: '0.0.0.0' }));
  }
  t.equal(settingsOf(base, gpu).INTERSTICE_ENGINE, 'webgpu');
});

t.test('a pod has enough time to drain, and its probes use existing ports', async (t) => {
  const config = readConfig({ ...settingsOf(base), INTERSTICE_HOST: '0.0.0.0' });
  const pod = at(only('Deployment').spec, 'template', 'spec');
  const notice = Number(settingsOf(base).INTERSTICE_DRAIN_NOTICE_SECONDS);
  const drain = Math.max(config.drainSeconds, config.drainJobSeconds);
  t.ok(Number(at(pod, 'terminationGracePeriodSeconds')) >= notice + drain + 20);
  const container = at(pod, 'containers', 0);
  const ports = new Map(
    (at(container, 'ports') as { name: string; containerPort: number }[]).map(({ name, containerPort }) => [
      name,
      containerPort,
    ]),
  );
  t.same(Object.fromEntries(ports), { http: config.httpPort, grpc: config.grpcPort, admin: config.adminPort });
  for (const [probe, path] of [
    ['startupProbe', '/readyz'],
    ['readinessProbe', '/readyz'],
    ['livenessProbe', '/livez'],
  ]) {
    t.same(at(container, probe, 'httpGet'), { path, port: 'admin' }, probe);
  }
  // The pod leaves the endpoints within the notice.
  const readiness = at(container, 'readinessProbe') as { periodSeconds: number; failureThreshold: number };
  t.ok(readiness.periodSeconds * readiness.failureThreshold < notice);
  t.equal(at(container, 'securityContext', 'readOnlyRootFilesystem'), true);
  t.equal(at(pod, 'securityContext', 'runAsNonRoot'), true);
  for (const { name } of at(container, 'volumeMounts') as { name: string }[]) {
    t.ok(
      (at(pod, 'volumes') as { name: string }[]).some((volume) => volume.name === name),
      `volume ${name}`,
    );
  }
});

t.test('the folder for compiled kernels that the image names can be written under its read-only root', async (t) => {
  const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
  const cache = /^ENV INTERSTICE_SHADER_CACHE=(.+)$/m.exec(dockerfile)?.[1];
  t.ok(cache, 'the image names one');
  t.match(dockerfile, new RegExp(`^VOLUME ${cache}$`, 'm'), 'a volume where nobody mounts another');
  t.match(dockerfile, new RegExp(`install -d -o node .* ${cache}$`, 'm'), 'of the user of the service');
  const mounts = at(only('Deployment').spec, 'template', 'spec', 'containers', 0, 'volumeMounts');
  t.ok((mounts as { mountPath: string }[]).some(({ mountPath }) => mountPath === cache));
});

t.test('every selector of the service finds its pods', async (t) => {
  const labels = base.labels[0].pairs;
  t.equal(base.labels[0].includeSelectors, false, 'peers of the network policy keep their own labels');
  for (const selector of [
    at(only('Deployment').spec, 'selector', 'matchLabels'),
    at(only('Service').spec, 'selector'),
    at(only('Service', 'interstice-pods').spec, 'selector'),
    at(only('PodDisruptionBudget').spec, 'selector', 'matchLabels'),
    at(only('NetworkPolicy').spec, 'podSelector', 'matchLabels'),
  ]) {
    t.same(selector, labels);
  }
  t.equal(at(only('HorizontalPodAutoscaler').spec, 'scaleTargetRef', 'name'), only('Deployment').metadata.name);
  const metric = at(only('HorizontalPodAutoscaler').spec, 'metrics', 0, 'pods', 'metric', 'name');
  t.equal(at(parse(read('adapter.yml')), 'rules', 'custom', 0, 'name', 'as'), metric);
});

t.test('the autoscaler alone sets the number of pods, by the time that calls wait', async (t) => {
  t.equal(at(only('Deployment').spec, 'replicas'), undefined, 'a change that is applied ends no pods');
  const metrics = at(only('HorizontalPodAutoscaler').spec, 'metrics') as { type: string }[];
  t.same(
    metrics.map(({ type }) => type),
    ['Pods'],
    'of several metrics the one that wants most pods would count',
  );
  t.notOk(gpu.patches.some(({ target }) => target.kind === 'HorizontalPodAutoscaler'));
});

t.test('no Service of the namespace sets a setting', async (t) => {
  // Kubernetes gives every container INTERSTICE_HTTP_PORT=tcp://ADDRESS:PORT where there is a Service interstice-http.
  t.throws(() => readConfig({ INTERSTICE_HTTP_PORT: 'tcp://10.0.0.1:80' }), { code: 'INVALID_PARAMETER' });
  t.equal(at(only('Deployment').spec, 'template', 'spec', 'enableServiceLinks'), false);
});

t.test('Prometheus finds the pods under the job of the alerts, with the labels that the adapter needs', async (t) => {
  const { scrape_configs: jobs } = parse(read('scrape.yml')) as {
    scrape_configs: { job_name: string; relabel_configs: Record<string, string>[] }[];
  };
  const alerts = readFileSync(join(projectRoot, 'deploy', 'monitoring', 'alerts.yml'), 'utf8');
  t.equal(jobs.length, 1);
  const [{ job_name: job, relabel_configs: rules }] = jobs;
  t.match(alerts, `up{job="${job}"}`);
  const kept = rules.filter(({ action }) => action === 'keep').map(({ regex }) => regex);
  t.same(kept, [base.labels[0].pairs['app.kubernetes.io/name'], 'admin']);
  const labels = at(parse(read('adapter.yml')), 'rules', 'custom', 0, 'resources', 'overrides') as object;
  t.same(
    rules.flatMap(({ target_label: label }) => label ?? []),
    Object.keys(labels),
  );
});

t.test('promtool accepts the job', { skip: lacksPromtool }, async (t) => {
  const { scrape_configs: jobs } = parse(read('scrape.yml')) as { scrape_configs: object[] };
  // Debian builds its promtool without what looks pods up.
  const known = jobs.map((job) => ({ ...job, kubernetes_sd_configs: undefined }));
  const temporary = mkdtempSync(join(tmpdir(), 'interstice-scrape-'));
  t.teardown(() => rmSync(temporary, { recursive: true, force: true }));
  // JSON is YAML.
  writeFileSync(join(temporary, 'scrape.yml'), JSON.stringify({ scrape_configs: known }));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', join(temporary, 'scrape.yml')], {
    encoding: 'utf8',
  });
  t.equal(status, 0, `${stdout}${stderr}`);
});

t.test('every file of the profile is one of its resources', async (t) => {
  const files = readdirSync(join(folder, 'base')).filter((name) => name !== 'kustomization.yml');
  t.same([...base.resources].sort(), files.sort());
});

t.test('the autoscaler gets a value of every pod, idle ones included', { skip: lacksPromtool }, async (t) => {
  const query = String(at(parse(read('adapter.yml')), 'rules', 'custom', 0, 'metricsQuery'))
    .replaceAll('<<.GroupBy>>', 'pod')
    .replaceAll('<<.LabelMatchers>>', 'namespace="default",pod=~"busy|idle"');
  const series = (what: string, pod: string, values: string) => ({
    series: `interstice_queue_wait_seconds_${what}{namespace="default",pod="${pod}"}`,
    values,
  });
  const cases = {
    evaluation_interval: '15s',
    tests: [
      {
        interval: '15s',
        input_series: [
          series('sum', 'busy', '0+1x40'),
          series('count', 'busy', '0+10x40'),
          series('sum', 'idle', '0+1x20 20x20'),
          series('count', 'idle', '0+10x20 200x20'),
        ],
        promql_expr_test: [
          {
            expr: query,
            eval_time: '10m',
            exp_samples: [
              { labels: '{pod="busy"}', value: 0.1 },
              { labels: '{pod="idle"}', value: 0 },
            ],
          },
        ],
      },
    ],
  };
  const folder = mkdtempSync(join(tmpdir(), 'interstice-adapter-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // JSON is YAML.
  writeFileSync(join(folder, 'adapter.test.yml'), JSON.stringify(cases));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'adapter.test.yml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  t.equal(status, 0, `${stdout}${stderr}`);
});
