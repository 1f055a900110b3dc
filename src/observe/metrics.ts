import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERRORS } from '../contract/errors.js';
import type { OperationEvent, OperationStats, RequestEvent } from '../contract/events.js';
import type { Report } from '../contract/report.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import type { RequestLine } from './log.js';

/** Seconds: from a probe of two triangles to the longest time budget that the settings allow by default. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600];
/** Counts of one resolve: steps, searches. */
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Proximity pairs of one resolve. */
const PAIRS = [0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/** Stages of a report, in the order of the walk; what the transports do (decode, encode) is in the request's own time. */
const PHASES = ['upload', 'search', 'geometry', 'backward', 'forward', 'readback', 'verify'] as const;

type Outcome = 'ok' | 'refused' | 'cancelled' | 'failed';

/**
 * Everything the service counts, in a registry of its own. Labels take few values: operations, codes, phases; tenants only
 * by the names in the file of keys. Ids, labels and paths of callers are never among them.
 */
export class Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  private readonly answers = this.counter('answers_total', 'Answers of the doors, refusals included.', [
    'door',
    'status',
    'code',
  ]);
  private readonly requests = this.counter('requests_total', 'Operations that ended, by how.', [
    'operation',
    'outcome',
    'code',
  ]);
  private readonly tenantRequests = this.counter('tenant_requests_total', 'Operations that ended, by whose key.', [
    'tenant',
    'outcome',
  ]);
  private readonly requestSeconds = this.histogram('request_seconds', 'From receipt to answer.', SECONDS, [
    'operation',
  ]);
  private readonly queueSeconds = this.histogram('queue_wait_seconds', 'Wait for a thread.', SECONDS);
  private readonly phaseSeconds = this.histogram('phase_seconds', 'Stages of a resolve or step.', SECONDS, ['phase']);
  private readonly statuses = this.counter('resolved_total', 'Computed resolves and steps, by status.', ['status']);
  private readonly replays = this.counter('replays_total', 'Frames sent again and answered from store.');
  private readonly steps = this.histogram('steps', 'Steps of the method in one resolve.', COUNTS);
  private readonly searches = this.histogram('searches', 'Proximity searches in one resolve.', COUNTS);
  private readonly pairs = this.histogram('pairs', 'Proximity pairs of one resolve.', PAIRS);
  private readonly reuses = this.counter('proximity_sets_reused_total', 'Steps that began with the set of the last.');
  private readonly fallbacks = this.counter('fell_back_total', 'Answers that are an earlier state than the last.');
  private readonly findings = this.counter('findings_total', 'Answers that the verifier refused.', ['kind', 'engine']);
  private readonly sessionChanges = this.counter('session_changes_total', 'What happened to sessions.', ['change']);
  private readonly tlsRefusals = this.counter('tls_refused_total', 'Connections that did not get through TLS.', [
    'reason',
  ]);
  private readonly workersLost = this.counter('workers_lost_total', 'Threads that died.');

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    const build = this.gauge('build_info', 'Always 1; the labels tell the version.', undefined, [
      'version',
      'algorithm',
    ]);
    build.set({ version: packageVersion, algorithm: algorithmVersion }, 1);
  }

  /** What the operations tell. */
  readonly observe = (event: OperationEvent): void => {
    if (event.type === 'request') this.countRequest(event);
    else if (event.type === 'session') this.sessionChanges.inc({ change: event.change });
    else if (event.type === 'finding') this.findings.inc({ kind: event.kind, engine: event.engine });
    else this.workersLost.inc();
  };

  /** What the doors tell: also of requests that never became an operation. */
  readonly countAnswer = ({ method, status, code }: RequestLine): void => {
    this.answers.inc({ door: method === 'gRPC' ? 'grpc' : 'http', status: String(status), code: code ?? 'OK' });
  };

  /** What the gRPC door tells of handshakes. @param reason one of a few that the door knows */
  readonly countTlsRefusal = (reason: string): void => this.tlsRefusals.inc({ reason });

  /** Gauges that are read when somebody asks. To be called once. */
  watch(read: () => OperationStats): void {
    const gauges: readonly [name: string, help: string, of: (stats: OperationStats) => number][] = [
      ['queue_waiting', 'Jobs that wait for a thread.', ({ waiting }) => waiting],
      ['jobs_running', 'Jobs on a thread.', ({ running }) => running],
      [
        'device_bytes',
        'What lanes hold for sessions, on devices and on the host.',
        ({ residentBytes }) => residentBytes,
      ],
      ['shared_bytes', 'What lanes keep for whatever job is next.', ({ sharedBytes }) => sharedBytes],
      ['host_bytes', 'Host memory for the meshes and states of sessions.', ({ hostBytes }) => hostBytes],
    ];
    for (const [name, help, of] of gauges) this.gauge(name, help, (gauge) => gauge.set(of(read())));
    const setSessions = (gauge: Gauge) => {
      const { sessions, parked } = read();
      gauge.set({ residency: 'resident' }, sessions - parked);
      gauge.set({ residency: 'parked' }, parked);
    };
    this.gauge('sessions', 'Open sessions.', setSessions, ['residency']);
  }

  /** What the composition root knows: 1 while the service takes requests, and how many are at work. */
  watchState(state: { readonly phase: string; readonly inFlight: number }): void {
    this.gauge('ready', '1 while the service takes requests.', (gauge) => gauge.set(state.phase === 'ready' ? 1 : 0));
    this.gauge('requests_in_flight', 'Requests at the doors.', (gauge) => gauge.set(state.inFlight));
  }

  /** The page that Prometheus reads. */
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
    for (const phase of PHASES) this.phaseSeconds.observe({ phase }, timings[phase] / 1e6);
    this.steps.observe(report.steps);
    this.searches.observe(report.searches);
    this.pairs.observe(pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex);
    if (report.proximitySetReused) this.reuses.inc();
    if (report.verification.fellBack) this.fallbacks.inc();
  }

  private counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name: `interstice_${name}`, help, labelNames, registers: this.registers });
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

function outcomeOf(code: RequestEvent['code']): Outcome {
  if (code === 'OK') return 'ok';
  if (code === 'CANCELLED') return 'cancelled';
  return ERRORS[code].http < 500 ? 'refused' : 'failed';
}
