import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { withTracing } from '../../src/observe/tracing.js';
import { fakeReport } from '../transport/fake-answers.js';
import { FakeOperations } from '../transport/fake-operations.js';

const request = { mesh: { vertexCount: 0 }, start: new Float32Array(0), target: new Float32Array(0), parameters: {} };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const header = (name: string) => (name === 'traceparent' ? `00-${TRACE}-${PARENT}-01` : undefined);

t.test('without an SDK requests run as usual', async (t) => {
  const operations = new FakeOperations();
  const traced = withTracing(operations);
  t.same((await traced.resolve(request, { header })).report, fakeReport());
  t.equal(traced.info().version, '0.1.0');
  operations.failure = new IntersticeError('QUEUE_FULL', 'full');
  await t.rejects(traced.check({ ...request, positions: request.start }), { code: 'QUEUE_FULL' });
});

t.test('with an SDK spans are recorded', async (t) => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  t.teardown(() => {
    trace.disable();
    propagation.disable();
    context.disable();
    return provider.shutdown();
  });
  t.beforeEach(() => exporter.reset());
  const named = (name: string) => exporter.getFinishedSpans().find((span) => span.name === `interstice ${name}`);

  t.test("a request is a span of the caller's trace, its stages are children as long as the report says", async (t) => {
    const operations = new FakeOperations();
    let active: string | undefined;
    operations.onResolve = async ({ target }) => {
      active = trace.getActiveSpan()?.spanContext().spanId;
      return { positions: target, report: fakeReport() };
    };
    const receivedAt = performance.now() - 100;
    const caller = { tenant: 'red', maxPriority: 'NORMAL' } as const;
    await withTracing(operations).resolve(request, { header, receivedAt, requestId: 'r1', caller });
    const root = named('resolve')!;
    t.equal(root.kind, SpanKind.SERVER);
    t.equal(root.spanContext().traceId, TRACE);
    t.equal(root.parentSpanContext?.spanId, PARENT);
    t.equal(active, root.spanContext().spanId, 'the work runs inside of it');
    t.match(root.attributes, {
      'interstice.operation': 'resolve',
      'interstice.request_id': 'r1',
      'interstice.tenant': 'red',
      'interstice.status': 'CONVERGED',
      'interstice.steps': 7,
      'interstice.pairs': 30,
    });
    t.ok(root.duration[0] > 0 || root.duration[1] >= 99e6, 'from receipt');
    const children = exporter.getFinishedSpans().filter((span) => span !== root);
    t.same(
      children.map(({ name }) => name.replace('interstice ', '')),
      ['queue', 'search', 'geometry', 'backward', 'forward', 'verify'],
    );
    for (const child of children) t.equal(child.parentSpanContext?.spanId, root.spanContext().spanId);
    const micros = (name: string) => Math.round(named(name)!.duration[1] / 1000);
    t.same([micros('search'), micros('verify')], [100, 50]);
  });

  t.test('a refusal is an error of the span, a replay has no stages', async (t) => {
    const operations = new FakeOperations();
    const traced = withTracing(operations);
    operations.failure = new IntersticeError('SESSION_NOT_FOUND', 'gone');
    await t.rejects(traced.getSession('x'), { code: 'SESSION_NOT_FOUND' });
    t.match(named('getSession'), {
      attributes: { 'error.type': 'SESSION_NOT_FOUND' },
      status: { code: SpanStatusCode.ERROR, message: 'SESSION_NOT_FOUND: gone' },
    });
    operations.failure = undefined;
    operations.onStep = async () => ({ frame: 1n, positions: request.start, report: fakeReport(), isReplay: true });
    exporter.reset();
    await traced.step({ sessionId: 'x' }, {});
    t.equal(exporter.getFinishedSpans().length, 1);
    t.equal(named('step')?.attributes['interstice.replay'], true);
  });

  t.test('a span that is open already is the parent', async () => {
    const outer = trace.getTracer('test').startSpan('outer');
    await context.with(trace.setSpan(context.active(), outer), () =>
      withTracing(new FakeOperations()).listSessions({}, { header }),
    );
    outer.end();
    t.equal(named('listSessions')?.parentSpanContext?.spanId, outer.spanContext().spanId);
  });
});
