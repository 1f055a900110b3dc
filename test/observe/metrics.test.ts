import t from 'tap';
import { Metrics } from '../../src/observe/metrics.js';
import { fakeReport } from '../transport/fake-answers.js';

const lines = async (metrics: Metrics) => new Set((await metrics.text()).split('\n'));

t.test('known events give the expected metrics', async (t) => {
  const metrics = new Metrics();
  const report = { ...fakeReport(), proximitySetReused: true };
  metrics.observe({ type: 'request', operation: 'step', code: 'OK', tenant: 'red', seconds: 0.3, report });
  metrics.observe({ type: 'request', operation: 'step', code: 'OK', tenant: 'red', seconds: 0.001, isReplay: true });
  metrics.observe({ type: 'request', operation: 'resolve', code: 'QUEUE_FULL', tenant: 'blue', seconds: 0.002 });
  metrics.observe({ type: 'request', operation: 'resolve', code: 'INTERNAL', tenant: 'blue', seconds: 0.002 });
  metrics.observe({ type: 'request', operation: 'resolve', code: 'CANCELLED', tenant: 'blue', seconds: 0.002 });
  metrics.observe({ type: 'session', change: 'created', tenant: 'red' });
  metrics.observe({ type: 'session', change: 'expired', tenant: 'red' });
  metrics.observe({ type: 'finding', kind: 'PATH', engine: 'cpu' });
  metrics.observe({ type: 'worker-lost' });
  for (let n = 0; n < 2; n++) metrics.observe({ type: 'device-lost' });
  const found = await lines(metrics);
  for (const line of [
    'interstice_requests_total{operation="step",outcome="ok",code="OK"} 2',
    'interstice_requests_total{operation="resolve",outcome="refused",code="QUEUE_FULL"} 1',
    'interstice_requests_total{operation="resolve",outcome="failed",code="INTERNAL"} 1',
    'interstice_requests_total{operation="resolve",outcome="cancelled",code="CANCELLED"} 1',
    'interstice_tenant_requests_total{tenant="red",outcome="ok"} 2',
    'interstice_request_seconds_count{operation="step"} 2',
    'interstice_request_seconds_bucket{le="0.25",operation="step"} 1',
    'interstice_request_seconds_bucket{le="0.5",operation="step"} 2',
    'interstice_resolved_total{status="CONVERGED"} 1',
    'interstice_replays_total 1',
    'interstice_queue_wait_seconds_count 1',
    'interstice_queue_wait_seconds_sum 0.00001',
    'interstice_phase_seconds_sum{phase="search"} 0.0001',
    'interstice_phase_seconds_sum{phase="verify"} 0.00005',
    'interstice_steps_sum 7',
    'interstice_searches_sum 2',
    'interstice_pairs_sum 30',
    'interstice_proximity_sets_reused_total 1',
    'interstice_fell_back_total 0',
    'interstice_findings_total{kind="PATH",engine="cpu"} 1',
    'interstice_session_changes_total{change="created"} 1',
    'interstice_session_changes_total{change="expired"} 1',
    'interstice_workers_lost_total 1',
    'interstice_devices_lost_total 2',
  ]) {
    t.ok(found.has(line) || found.has(line.replace('0.00001', '1e-5').replace('0.00005', '5e-5')), line);
  }
});

t.test('counters of alerts begin at 0, so that the first event is an increase', async (t) => {
  const found = await lines(new Metrics());
  for (const line of [
    'interstice_requests_total{operation="step",outcome="failed",code="INTERNAL"} 0',
    'interstice_requests_total{operation="createSession",outcome="failed",code="STORE_UNAVAILABLE"} 0',
    'interstice_findings_total{kind="STATE",engine="webgpu"} 0',
    'interstice_log_lines_lost_total{reason="DISK_FULL"} 0',
    'interstice_bodies_refused_total{reason="capacity"} 0',
    'interstice_workers_lost_total 0',
    'interstice_devices_lost_total 0',
    'interstice_fell_back_total 0',
    'interstice_descriptor_shortages_total 0',
  ]) {
    t.ok(found.has(line), line);
  }
  t.notOk(
    [...found].some((line) => line.includes('store_up')),
    'a service without a store says nothing of one',
  );
});

t.test('gauges show the values at the time of the query', async (t) => {
  const metrics = new Metrics();
  const stats = {
    waiting: 1,
    running: 2,
    sessions: 5,
    parked: 2,
    residentBytes: 100,
    sharedBytes: 150,
    workBytes: 170,
    deviceBufferBytes: 180,
    scenesTogether: 8,
    convoy: {
      ...{ submissions: 3, parts: 40, dispatches: 90, launches: 1200, waited: 250, sizes: [0, 1, 0, 0, 0, 0, 2] },
      alone: { size: 7, strainLimits: 6, scenes: 5, memory: 4 },
    },
    hostBytes: 200,
    pendingJobs: 3,
    endedJobs: 2,
    jobBytes: 700,
  };
  const state = { phase: 'starting', inFlight: 3 };
  metrics.watch(() => stats);
  metrics.watchState(state);
  const before = await lines(metrics);
  for (const line of [
    'interstice_queue_waiting 1',
    'interstice_jobs_running 2',
    'interstice_sessions{residency="resident"} 3',
    'interstice_sessions{residency="parked"} 2',
    'interstice_device_bytes 100',
    'interstice_shared_bytes 150',
    'interstice_work_bytes 170',
    'interstice_device_buffer_bytes 180',
    'interstice_convoy_scenes 8',
    'interstice_convoy_submissions_total 3',
    'interstice_convoy_parts_total 40',
    'interstice_convoy_dispatches_total 90',
    'interstice_convoy_launches_total 1200',
    'interstice_convoy_wait_seconds_total 0.25',
    'interstice_convoy_sizes_total{scenes="2"} 1',
    'interstice_convoy_sizes_total{scenes="64"} 2',
    'interstice_convoy_alone_total{reason="size"} 7',
    'interstice_convoy_alone_total{reason="strain_limits"} 6',
    'interstice_convoy_alone_total{reason="scenes"} 5',
    'interstice_convoy_alone_total{reason="memory"} 4',
    'interstice_host_bytes 200',
    'interstice_ready 0',
    'interstice_requests_in_flight 3',
  ]) {
    t.ok(before.has(line), line);
  }
  t.ok(before.has('# TYPE interstice_convoy_parts_total counter'));
  stats.waiting = 9;
  stats.convoy.parts = 45;
  state.phase = 'ready';
  const after = await lines(metrics);
  t.ok(after.has('interstice_queue_waiting 9'));
  t.ok(after.has('interstice_ready 1'));
  t.ok(after.has('interstice_convoy_parts_total 45'));
});

t.test('refusals by a transport are counted, without paths or ids', async (t) => {
  const metrics = new Metrics();
  const line = { requestId: 'r-77', path: '/v1/sessions/abc', milliseconds: 1, bytesIn: 0, bytesOut: 0 };
  metrics.countAnswer({ ...line, method: 'POST', status: 401, code: 'UNAUTHENTICATED' });
  metrics.countAnswer({ ...line, method: 'gRPC', status: 200, code: undefined });
  const text = await metrics.text();
  t.match(text, 'interstice_answers_total{door="http",status="401",code="UNAUTHENTICATED"} 1');
  t.match(text, 'interstice_answers_total{door="grpc",status="200",code="OK"} 1');
  t.notMatch(text, /abc|r-77/);
});

t.test('two registries in one process are independent', async (t) => {
  const [one, two] = [new Metrics(), new Metrics()];
  one.observe({ type: 'worker-lost' });
  t.ok((await lines(two)).has('interstice_workers_lost_total 0'));
});
