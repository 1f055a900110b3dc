import { type Context, context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { IntersticeError } from '../contract/errors.js';
import type { CallContext, Operations } from '../contract/operations.js';
import type { Report, Timings } from '../contract/report.js';
import type { StepAnswer } from '../contract/sessions.js';
import { packageVersion } from '../paths.js';

/** The stages that become children, in the order of the walk. */
const PHASES = [
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
 * The same operations, each call in a span of OpenTelemetry's: child of the caller's, whose trace arrives in the headers
 * `traceparent` and `tracestate`. Spans go wherever the process's SDK sends them, and nowhere where there is none; then
 * nothing of this costs more than a function call.
 */
export function withTracing<T extends Operations>(operations: T): T {
  const traced: Partial<Operations> = {
    resolve: (request, call) => inSpan('resolve', call, (next) => operations.resolve(request, next)),
    check: (request, call) => inSpan('check', call, (next) => operations.check(request, next)),
    createSession: (request, call) => inSpan('createSession', call, (next) => operations.createSession(request, next)),
    getSession: (id, call) => inSpan('getSession', call, (next) => operations.getSession(id, next)),
    listSessions: (request, call) => inSpan('listSessions', call, (next) => operations.listSessions(request, next)),
    updateSession: (request, call) => inSpan('updateSession', call, (next) => operations.updateSession(request, next)),
    deleteSession: (id, call) => inSpan('deleteSession', call, (next) => operations.deleteSession(id, next)),
    step: (request, call) => inSpan('step', call, (next) => operations.step(request, next)),
  };
  return new Proxy(operations, {
    get: (target, name) => {
      const own = traced[name as keyof Operations];
      if (own) return own;
      const value = Reflect.get(target, name) as unknown;
      // Private fields are not the proxy's.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const tracer = () => trace.getTracer('interstice', packageVersion);

async function inSpan<A>(
  operation: string,
  call: CallContext | undefined,
  run: (call: CallContext | undefined) => Promise<A>,
): Promise<A> {
  const startTime = toEpochMs(call?.receivedAt ?? performance.now());
  const parent = parentOf(call);
  const span = tracer().startSpan(
    `interstice ${operation}`,
    { kind: SpanKind.SERVER, startTime, attributes: attributesOf(operation, call) },
    parent,
  );
  const inside = trace.setSpan(parent, span);
  try {
    const answer = await context.with(inside, () => run(call));
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

/** A span that an instrumentation of the door has opened already goes before what the headers say: it is their child. */
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

/** Resolves and steps tell how they went; the answers of other operations say nothing about work. */
function describe(span: Span, inside: Context, startTime: number, answer: unknown): void {
  const { report, isReplay } = (answer ?? {}) as Partial<StepAnswer>;
  if (isReplay) span.setAttribute('interstice.replay', true);
  if (!report || isReplay) return;
  span.setAttributes(factsOf(report));
  addPhases(inside, startTime, report.timings);
}

function factsOf(report: Report) {
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
 * A child a stage, as long as the report says. Stages take turns within a resolve (a search between two steps): each child
 * is the sum of its turns, and they lie end to end, so their lengths mean something and their starts do not.
 */
function addPhases(inside: Context, startTime: number, timings: Timings): void {
  let from = startTime;
  for (const phase of PHASES) {
    const milliseconds = timings[phase] / 1000;
    if (milliseconds <= 0) continue;
    const attributes = { 'interstice.sum_of_turns': true };
    tracer()
      .startSpan(`interstice ${phase}`, { startTime: from, attributes }, inside)
      .end(from + milliseconds);
    from += milliseconds;
  }
}

/** OpenTelemetry takes milliseconds since 1970; with a fraction, so that short stages do not vanish. */
const toEpochMs = (performanceNow: number): number => performance.timeOrigin + performanceNow;
