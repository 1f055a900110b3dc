import t from 'tap';
import { readableLine, readableLog } from '../../src/cli/commands/serve.js';
import { createLogger } from '../../src/observe/log.js';
import { recordTerminal } from './fakes.js';

t.test('a line of the log becomes one that a person can read', async (t) => {
  const terminal = recordTerminal();
  const log = createLogger('info', readableLog(terminal.err));
  log.info({ method: 'POST', path: '/v1/resolve', status: 200, ms: 1.5, code: undefined }, 'request');
  log.error({ err: new Error('boom') }, 'request failed');
  const lines = terminal.written.err.split('\n');
  t.match(lines[0], /^\d\d:\d\d:\d\d info {2}request method=POST path=\/v1\/resolve status=200 ms=1\.5$/);
  t.match(lines[1], /^\d\d:\d\d:\d\d error request failed err=boom$/);
  t.equal(lines[2], '');
});

t.test('what is no JSON is passed on', async (t) => {
  t.equal(readableLine('plain words'), 'plain words');
});
