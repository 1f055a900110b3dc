import t from 'tap';
import { createLogger, logRequest, type RequestLine } from '../../src/observe/log.js';

function capture(level: string) {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger(level, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

const line: RequestLine = {
  requestId: 'r1',
  method: 'POST',
  path: '/v1/resolve',
  status: 200,
  milliseconds: 1.23456,
  bytesIn: 10,
  bytesOut: undefined,
  code: undefined,
};

t.test('a request is one line with its id, outcome and cost', async (t) => {
  const { log, lines } = capture('info');
  logRequest(log, line);
  t.equal(lines.length, 1);
  t.match(lines[0], {
    level: 'info',
    service: 'interstice',
    requestId: 'r1',
    path: '/v1/resolve',
    status: 200,
    ms: 1.235,
  });
  t.match(lines[0], { method: 'POST', bytesIn: 10, msg: 'Request completed.', time: /^\d{4}-\d\d-\d\dT/ });
});

t.test("only the service's own faults are errors", async (t) => {
  const { log, lines } = capture('info');
  for (const status of [200, 400, 499, 501, 503, 500, 504]) logRequest(log, { ...line, status });
  t.same(
    lines.map(({ status, level }) => `${status} ${level}`),
    ['200 info', '400 info', '499 info', '501 info', '503 info', '500 error', '504 info'],
  );
});

t.test('lines below the log level are not written', async (t) => {
  const { log, lines } = capture('error');
  logRequest(log, line);
  t.equal(lines.length, 0);
});

t.test('the value of a header that gets into a log line is removed', async (t) => {
  const { log, lines } = capture('info');
  const headers = { authorization: 'Bearer isk_x', 'x-api-key': 'isk_y', accept: '*/*' };
  log.info({ ...headers, request: { headers }, metadata: headers }, 'odd');
  t.notMatch(JSON.stringify(lines), /isk_/);
  t.match(lines[0], { authorization: '[secret]', accept: '*/*', request: { headers: { 'x-api-key': '[secret]' } } });
});
