import { type Context, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { CallContext } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import { OPERATIONS } from '../contract/operation-table.js';
import type { OperationName, Operations } from '../contract/operations.js';
import type { Report, Timings } from '../contract/report.js';
import type { StepAnswer } from '../contract/sessions.js';
import { packageVersion } from '../paths.js';

/** The stages of a request that become child spans, in the order of execution. */
const STAGES = [
  'decode',
  'queue',
  'upload',
  'search',
  'geometry',
  'backward',
  'forward',
  'readback',
  'verify',
] as const;

/**
 * Wraps the operations so that each call runs in an OpenTelemetry span. The parent is the caller's span, which arrives
 * in the headers `traceparent` and `tracestate`. Without an OpenTelemetry SDK in the process the spans are discarded at
 * the cost of a function call.
 */
export function withTracing<T extends Operations>(operations: T): T {
  return new Proxy(operations, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      const span = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name as OperationName].span : null;
      // Bound to the target, because a proxy has no access to private fields.
      if (span === null) return value.bind(target);
      return (request: unknown, call: CallContext | undefined) =>
        inSpan(span, String(name), call, () => value.call(target, request, call) as Promise<unknown>);
    },
  });
}

const tracer = () => trace.getTracer('interstice', packageVersion);

async function inSpan<A>(
  name: string,
  operation: string,
  call: CallContext | undefined,
  run: () => Promise<A>,
): Promise<A> {
  const startTime = toEpochMs(call?.receivedAt ?? performance.now());
  const parent = parentOf(call);
  const attributes = attributesOf(operation, call);
  const span = tracer().startSpan(name, { kind: SpanKind.SERVER, startTime, attributes }, parent);
  const inside = trace.setSpan(parent, span);
  try {
    const answer = await context.with(inside, run);
    if (span.isRecording()) describe(span, inside, startTime, answer);
    return answer;
  } catch (thrown) {
    const { code, message } = IntersticeError.from(thrown);
    span.setAttribute('error.type', code);
    span.setStatus({ code: SpanStatusCode.ERROR, message: `${code}: ${message}` });
    throw thrown;
  } finally {
    span.end();
  }
}

/** The active span, if an instrumentation of the transport has opened one from the headers; else the headers' span. */
function parentOf(call: CallContext | undefined): Context {
  const active = context.active();
  const { header } = call ?? {};
  if (!header || trace.getSpan(active)) return active;
  return propagation.extract(active, header, { get: (read, name) => read(name.toLowerCase()), keys: () => [] });
}

function attributesOf(operation: string, call: CallContext | undefined) {
  return {
    'interstice.operation': operation,
    ...(call?.requestId === undefined ? {} : { 'interstice.request_id': call.requestId }),
    ...(call?.caller === undefined ? {} : { 'interstice.tenant': call.caller.tenant }),
  };
}

/** Adds attributes and stages from the report of a resolve or a step; other answers have no report. */
function describe(span: Span, inside: Context, startTime: number, answer: unknown): void {
  const { report, isReplay } = (answer ?? {}) as Partial<StepAnswer>;
  if (isReplay) span.setAttribute('interstice.replay', true);
  if (!report || isReplay) return;
  span.setAttributes(reportAttributes(report));
  addStages(inside, startTime, report.timings);
}

function reportAttributes(report: Report) {
  const { pairs } = report;
  return {
    'interstice.status': report.status,
    'interstice.engine': report.engine,
    'interstice.steps': report.steps,
    'interstice.searches': report.searches,
    'interstice.proximity_set_reused': report.proximitySetReused,
    'interstice.pairs': pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex,
    'interstice.fell_back': report.verification.fellBack,
  };
}

/**
 * Adds one child span for each stage of the report. The stages of a resolve alternate (search, step, search, ...), and
 * the report has only their sums: the child spans follow one another, so that their lengths are meaningful and their
 * start times are not.
 */
function addStages(inside: Context, startTime: number, timings: Timings): void {
  let from = startTime;
  for (const stage of STAGES) {
    const milliseconds = timings[stage] / 1000;
    if (milliseconds <= 0) continue;
    const attributes = { 'interstice.sum_of_turns': true };
    tracer()
      .startSpan(`interstice ${stage}`, { startTime: from, attributes }, inside)
      .end(from + milliseconds);
    from += milliseconds;
  }
}

/** Milliseconds since 1970, with a fraction so that short stages do not vanish. */
const toEpochMs = (performanceNow: number): number => performance.timeOrigin + performanceNow;
