import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERRORS, type ErrorCode } from '../contract/errors.js';
import { FINDING_KINDS, type OperationEvent, type OperationStats, type RequestEvent } from '../contract/events.js';
import { isMeasured, OPERATION_NAMES } from '../contract/operation-table.js';
import type { Report } from '../contract/report.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import type { RequestLine } from './log.js';
import { LOSS_REASONS, type LossReason } from './log-sink.js';

/** Buckets in seconds, from two triangles to the default limit of time budgets. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600];
/** Buckets for the steps and searches of one resolve. */
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Buckets for the proximity pairs of one resolve. */
const PAIRS = [0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/** Stages of a report, in the order of execution; `request_seconds` includes the transport's decoding and encoding. */
const STAGES = ['upload', 'search', 'geometry', 'backward', 'forward', 'readback', 'verify'] as const;

/** Values of labels whose series begin at 0. */
const ENGINES = ['cpu', 'webgpu'] as const;
const BODY_REFUSALS = ['capacity', 'share'] as const;

type Outcome = 'ok' | 'refused' | 'cancelled' | 'failed';

/**
 * The metrics of the service in their own registry. The number of label values is bounded: operations, codes, stages,
 * and the tenants of the key file. Ids, labels and paths of callers are never label values.
 */
export class Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  private readonly answers = this.counter(
    'answers_total',
    'Answers of the HTTP and gRPC servers, including refusals.',
    ['door', 'status', 'code'],
  );
  private readonly requests = this.counter('requests_total', 'Completed operations by outcome.', [
    'operation',
    'outcome',
    'code',
  ]);
  private readonly tenantRequests = this.counter('tenant_requests_total', 'Completed operations by tenant.', [
    'tenant',
    'outcome',
  ]);
  private readonly requestSeconds = this.histogram(
    'request_seconds',
    'Time from the first byte of a request to its answer.',
    SECONDS,
    ['operation'],
  );
  private readonly queueSeconds = this.histogram('queue_wait_seconds', 'Time in the queue.', SECONDS);
  private readonly phaseSeconds = this.histogram('phase_seconds', 'Time in each stage of a resolve or step.', SECONDS, [
    'phase',
  ]);
  private readonly statuses = this.counter('resolved_total', 'Computed resolves and steps by status.', ['status']);
  private readonly replays = this.counter('replays_total', 'Frames that were sent again and got their stored answer.');
  private readonly steps = this.histogram('steps', 'Solver steps of one resolve.', COUNTS);
  private readonly searches = this.histogram('searches', 'Proximity searches of one resolve.', COUNTS);
  private readonly pairs = this.histogram('pairs', 'Proximity pairs of one resolve.', PAIRS);
  private readonly reuses = this.counter(
    'proximity_sets_reused_total',
    'Steps that started with the proximity set of the previous step.',
  );
  private readonly fallbacks = this.counter(
    'fell_back_total',
    'Answers that fell back to an earlier state after a finding.',
  );
  private readonly findings = this.counter('findings_total', 'Answers that the verifier rejected.', ['kind', 'engine']);
  private readonly sessionChanges = this.counter(
    'session_changes_total',
    'Sessions created, deleted, expired, parked, resumed, loaded from the store or moved to another process.',
    ['change'],
  );
  private readonly tlsRefusals = this.counter('tls_refused_total', 'Connections that failed the TLS handshake.', [
    'reason',
  ]);
  private readonly lostLogLines = this.counter('log_lines_lost_total', 'Log lines that could not be written.', [
    'reason',
  ]);
  private readonly bodiesRefused = this.counter(
    'bodies_refused_total',
    'Request bodies that found no room: in total (capacity), or in the share of their client (share).',
    ['reason'],
  );
  private readonly closedConnections = this.counter(
    'connections_closed_total',
    'Connections that the limits closed: refused (limit, address), or closed while idle to make room for a new one (idle).',
    ['door', 'reason'],
  );
  private readonly descriptorShortages = this.counter(
    'descriptor_shortages_total',
    'Checks of the open files, one every two seconds, that found too few left.',
  );
  private readonly storeSeconds = this.histogram(
    'store_seconds',
    'Time of one command to the session store.',
    SECONDS,
    ['call'],
  );
  private readonly storeFailures = this.counter(
    'store_failures_total',
    'Commands to the session store that it did not answer in time, or refused.',
    ['call'],
  );
  private readonly workersLost = this.counter('workers_lost_total', 'Worker threads that died.');
  private readonly devicesLost = this.counter(
    'devices_lost_total',
    'Devices that were lost, and replacements that did not open.',
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    const build = this.gauge('build_info', 'Always 1; the labels give the version.', undefined, [
      'version',
      'algorithm',
    ]);
    build.set({ version: packageVersion, algorithm: algorithmVersion }, 1);
    // Alerts evaluate increases, and a series that begins with its first event shows none.
    for (const operation of OPERATION_NAMES.filter(isMeasured))
      for (const code of FAILURES) this.requests.inc({ operation, outcome: 'failed', code }, 0);
    for (const kind of FINDING_KINDS) for (const engine of ENGINES) this.findings.inc({ kind, engine }, 0);
    for (const reason of LOSS_REASONS) this.lostLogLines.inc({ reason }, 0);
    for (const reason of BODY_REFUSALS) this.bodiesRefused.inc({ reason }, 0);
  }

  /** Counts an event of the operations. */
  readonly observe = (event: OperationEvent): void => {
    if (event.type === 'request') this.countRequest(event);
    else if (event.type === 'session') this.sessionChanges.inc({ change: event.change });
    else if (event.type === 'finding') this.findings.inc({ kind: event.kind, engine: event.engine });
    else if (event.type === 'device-lost') this.devicesLost.inc();
    else this.workersLost.inc();
  };

  /** Counts an answer of a transport, including requests that never reached an operation. */
  readonly countAnswer = ({ method, status, code }: RequestLine): void => {
    this.answers.inc({ door: method === 'gRPC' ? 'grpc' : 'http', status: String(status), code: code ?? 'OK' });
  };

  /** @param reason one of a fixed set of reasons */
  readonly countTlsRefusal = (reason: string): void => this.tlsRefusals.inc({ reason });

  readonly countLostLogLine = (reason: LossReason): void => this.lostLogLines.inc({ reason });

  /** @param reason one of a fixed set of reasons */
  readonly countBodyRefusal = (reason: string): void => this.bodiesRefused.inc({ reason });

  /** @param reason one of a fixed set of reasons */
  readonly countClosedConnection = (door: string, reason: string): void => this.closedConnections.inc({ door, reason });

  /** @param call one of a fixed set of names */
  readonly countStoreCall = (call: {
    readonly name: string;
    readonly seconds: number;
    readonly failure: string | undefined;
  }): void => {
    this.storeSeconds.observe({ call: call.name }, call.seconds);
    if (call.failure !== undefined) this.storeFailures.inc({ call: call.name });
  };

  readonly countDescriptorShortage = (): void => this.descriptorShortages.inc();

  /** Adds the gauge of the store. Call it once. */
  watchStore(isUp: () => boolean): void {
    this.gauge('store_up', '1 while the store of the sessions answers.', (gauge) => gauge.set(isUp() ? 1 : 0));
  }

  /** Adds the gauge of open connections. Call it once. */
  watchConnections(countOf: (door: 'http' | 'grpc') => number): void {
    const set = (gauge: Gauge) => {
      for (const door of ['http', 'grpc'] as const) gauge.set({ door }, countOf(door));
    };
    this.gauge('connections', 'Open connections.', set, ['door']);
  }

  /** Adds the gauges of the request bodies. Call it once. */
  watchBodies(ledger: { readonly bytes: number; readonly maxBytes: number }): void {
    this.gauge('body_bytes', 'Memory of the request bodies that arrive, wait or are computed.', (gauge) =>
      gauge.set(ledger.bytes),
    );
    this.gauge('body_bytes_limit', 'The limit of body_bytes; 0 = none.', (gauge) => gauge.set(ledger.maxBytes));
  }

  /** Adds the gauges of the operations and the counters that they keep, read at each scrape. Call it once. */
  watch(read: () => OperationStats): void {
    const gauges: readonly [name: string, help: string, of: (stats: OperationStats) => number][] = [
      ['queue_waiting', 'Jobs that wait for a worker thread.', ({ waiting }) => waiting],
      ['jobs_running', 'Jobs on a worker thread.', ({ running }) => running],
      [
        'device_bytes',
        'Memory that lanes hold for sessions on devices and on the host.',
        ({ residentBytes }) => residentBytes,
      ],
      ['shared_bytes', 'Memory that lanes keep for any next job.', ({ sharedBytes }) => sharedBytes],
      [
        'work_bytes',
        'Memory of the arrays that lanes compute on: pairs, candidates, contacts, trees, and what is recycled.',
        ({ workBytes }) => workBytes,
      ],
      [
        'device_buffer_bytes',
        'Memory of the buffers of all lanes on the device.',
        ({ deviceBufferBytes }) => deviceBufferBytes,
      ],
      [
        'convoy_scenes',
        'Scenes that a lane submits together, at most; 1 = each alone, as the setting or the device wants it.',
        ({ scenesTogether }) => scenesTogether,
      ],
      ['host_bytes', 'Host memory for the meshes and states of sessions.', ({ hostBytes }) => hostBytes],
      ['long_job_bytes', 'Host memory for the requests and results of submitted jobs.', ({ jobBytes }) => jobBytes],
    ];
    for (const [name, help, of] of gauges) this.gauge(name, help, (gauge) => gauge.set(of(read())));
    const totals: typeof gauges = [
      [
        'convoy_submissions_total',
        'Submissions to devices of scenes that submit together.',
        ({ convoy }) => convoy.submissions,
      ],
      ['convoy_parts_total', 'Total number of scenes in these submissions.', ({ convoy }) => convoy.parts],
      ['convoy_dispatches_total', 'Dispatches in these submissions.', ({ convoy }) => convoy.dispatches],
      ['convoy_launches_total', 'Dispatches of single scenes that these replaced.', ({ convoy }) => convoy.launches],
      [
        'convoy_wait_seconds_total',
        'Total time from the end of the recording of a scene to its submission.',
        ({ convoy }) => convoy.waited / 1000,
      ],
    ];
    for (const [name, help, of] of totals) this.total(name, help, () => of(read()));
    const setSessions = (gauge: Gauge) => {
      const { sessions, parked } = read();
      gauge.set({ residency: 'resident' }, sessions - parked);
      gauge.set({ residency: 'parked' }, parked);
    };
    const setJobs = (gauge: Gauge) => {
      const { pendingJobs, endedJobs } = read();
      gauge.set({ state: 'pending' }, pendingJobs);
      gauge.set({ state: 'ended' }, endedJobs);
    };
    this.gauge('long_jobs', 'Submitted jobs that wait or run, and those that have ended and are kept.', setJobs, [
      'state',
    ]);
    const addSizes = (counter: Counter) =>
      read().convoy.sizes.forEach((count, k) => {
        counter.inc({ scenes: String(2 ** k) }, count);
      });
    this.totals(
      'convoy_sizes_total',
      'Submissions by number of scenes: at most as many as the label, and more than half of that.',
      addSizes,
      ['scenes'],
    );
    const addAlone = (counter: Counter) => {
      const { size, strainLimits, scenes, memory } = read().convoy.alone;
      for (const [reason, count] of Object.entries({ size, strain_limits: strainLimits, scenes, memory }))
        counter.inc({ reason }, count);
    };
    this.totals(
      'convoy_alone_total',
      'Scenes that were opened to submit alone on a device whose small scenes submit together, by the reason.',
      addAlone,
      ['reason'],
    );
    this.gauge('sessions', 'Open sessions.', setSessions, ['residency']);
  }

  /** Adds the gauges of the service's state. Call it once. */
  watchState(state: { readonly phase: string; readonly inFlight: number }): void {
    this.gauge('ready', '1 while the service takes requests.', (gauge) => gauge.set(state.phase === 'ready' ? 1 : 0));
    this.gauge('requests_in_flight', 'Requests in progress.', (gauge) => gauge.set(state.inFlight));
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  private countRequest(event: RequestEvent): void {
    const { operation, code, tenant, seconds, report, isReplay } = event;
    const outcome = outcomeOf(code);
    this.requests.inc({ operation, outcome, code });
    this.tenantRequests.inc({ tenant, outcome });
    this.requestSeconds.observe({ operation }, seconds);
    if (isReplay) this.replays.inc();
    else if (report) this.countReport(report);
  }

  private countReport(report: Report): void {
    const { timings, pairs } = report;
    this.statuses.inc({ status: report.status });
    this.queueSeconds.observe(timings.queue / 1e6);
    for (const stage of STAGES) this.phaseSeconds.observe({ phase: stage }, timings[stage] / 1e6);
    this.steps.observe(report.steps);
    this.searches.observe(report.searches);
    this.pairs.observe(pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex);
    if (report.proximitySetReused) this.reuses.inc();
    if (report.verification.fellBack) this.fallbacks.inc();
  }

  private counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name: `interstice_${name}`, help, labelNames, registers: this.registers });
  }

  /** A counter of something that is counted elsewhere. */
  private total(name: string, help: string, read: () => number): Counter {
    return this.totals(name, help, (counter) => counter.inc(read()));
  }

  private totals(name: string, help: string, add: (counter: Counter) => void, labelNames: string[] = []): Counter {
    const collect = function (this: Counter) {
      this.reset();
      add(this);
    };
    return new Counter({ name: `interstice_${name}`, help, labelNames, registers: this.registers, collect });
  }

  private histogram(name: string, help: string, buckets: number[], labelNames: string[] = []): Histogram {
    return new Histogram({ name: `interstice_${name}`, help, buckets, labelNames, registers: this.registers });
  }

  private gauge(name: string, help: string, update?: (gauge: Gauge) => void, labelNames: string[] = []): Gauge {
    const collect = update && {
      collect(this: Gauge) {
        update(this);
      },
    };
    return new Gauge({ name: `interstice_${name}`, help, labelNames, registers: this.registers, ...collect });
  }
}

/** Codes of the outcome `failed`. */
const FAILURES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => outcomeOf(code) === 'failed');

function outcomeOf(code: RequestEvent['code']): Outcome {
  if (code === 'OK') return 'ok';
  if (code === 'CANCELLED') return 'cancelled';
  return ERRORS[code].http < 500 ? 'refused' : 'failed';
}
