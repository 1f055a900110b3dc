/**
 * Sends the spans of the service to an OpenTelemetry collector. The service calls OpenTelemetry's API and does not
 * include an SDK; this file loads one before the service starts:
 *
 *     npm install @opentelemetry/sdk-node            in the folder of this file
 *     NODE_OPTIONS='--import /path/to/tracing.mjs' OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 interstice serve
 *
 * Every variable of OpenTelemetry's specification works (OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER,
 * OTEL_EXPORTER_OTLP_HEADERS …). Tried by deploy/test-tracing.mjs.
 */
import { isMainThread } from 'node:worker_threads';

// The service's threads start with the same options, but only the main thread creates spans.
if (isMainThread) {
  const defaults = {
    OTEL_SERVICE_NAME: 'interstice',
    // Metrics are for Prometheus (collector.yml in this folder scrapes them), and logs go to standard error.
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    // ms: spans of the last second before the end of the process may be lost.
    OTEL_BSP_SCHEDULE_DELAY: '1000',
  };
  for (const [name, value] of Object.entries(defaults)) process.env[name] ??= value;
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  new NodeSDK({ instrumentations: [] }).start();
}
