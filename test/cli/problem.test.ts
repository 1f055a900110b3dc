import t from 'tap';
import { exitCodeOfError, UsageError } from '../../src/cli/exit-codes.js';
import { describeProblem, reportProblem, toProblem } from '../../src/cli/problem.js';
import { ERRORS, type ErrorCode, IntersticeError } from '../../src/contract/errors.js';
import { recordTerminal } from './fakes.js';

const refusal = new IntersticeError('INTERSECTING_START', 'The start intersects itself.', {
  element: { kind: 'triangle', index: 7, vertices: [1, 2, 3] },
  pairs: Array.from({ length: 8 }, (_, i) => ({ kind: 'EDGE_TRIANGLE', a: [i, i + 1], b: [20, 21, 22] }) as const),
  pairCount: 780,
  hint: 'Separate them.',
});

t.test('an error says what, where and what to do, and shows no stack', async (t) => {
  const text = describeProblem(refusal, false);
  t.match(text, /^error: INTERSECTING_START: The start intersects itself\.\n/);
  t.match(text, /at +triangle 7 \(vertices 1, 2, 3\)/);
  t.match(text, /pairs +edge 0-1 × triangle 20-21-22/);
  t.match(text, /… and 775 more/);
  t.match(text, /hint +Separate them\./);
  t.notMatch(text, /problem\.test/);
});

t.test('debugging adds the stack and that of the cause', async (t) => {
  const text = describeProblem(new IntersticeError('INTERNAL', 'outer', { cause: new Error('inner') }), true);
  t.match(text, /problem\.test[\s\S]*cause: Error: inner\n[\s\S]*problem\.test/);
});

t.test('a mistake of the command line points to the help of its command', async (t) => {
  t.equal(describeProblem(new UsageError('no.', 'check'), false), 'error: no.\nSee interstice check --help.');
  t.equal(describeProblem(new UsageError('no.'), false), 'error: no.', 'no page tells more about a missing file');
});

t.test('an interrupt is told in one line', async (t) => {
  const text = describeProblem(new IntersticeError('CANCELLED', 'The call was cancelled.'), false);
  t.equal(text, 'Interrupted. No answer was written.');
});

t.test('an unforeseen failure says how to see more', async (t) => {
  t.match(describeProblem(new Error('boom'), false), /^error: INTERNAL: boom\n +hint +.*INTERSTICE_DEBUG=1/);
});

t.test('a file that cannot be read is repaired, not compared with a page of the service', async (t) => {
  const text = describeProblem(new IntersticeError('MALFORMED_BODY', 'a.obj: Line 3: "x" is not a number.'), false);
  t.match(text, /\n +hint +Repair the file at the place/);
  t.notMatch(text, /docs/);
  const precise = new IntersticeError('MALFORMED_BODY', 'a.obj: odd.', { hint: 'Write it otherwise.' });
  t.match(describeProblem(precise, false), /hint +Write it otherwise\./, 'a more precise hint stays');
});

t.test('hints name flags where the service names headers and fields of a request', async (t) => {
  const key = new IntersticeError('UNAUTHENTICATED', 'This request requires an API key.', {
    hint: 'Send it as "authorization: Bearer KEY" or as "x-api-key: KEY".',
  });
  t.match(describeProblem(key, false).replace(/\s+/g, ' '), /hint .*--api-key-file FILE/);
  t.notMatch(describeProblem(key, false), /Bearer/);
  t.match(describeProblem(new IntersticeError('DEADLINE_EXCEEDED', 'Late.'), false), /hint +.*--on-budget/);
});

t.test('the JSON problem has the fields of the contract', async (t) => {
  t.match(toProblem(refusal), {
    type: 'urn:interstice:error:INTERSECTING_START',
    title: 'Intersecting start',
    status: 422,
    code: 'INTERSECTING_START',
    detail: 'The start intersects itself.',
    message: 'The start intersects itself.',
    hint: 'Separate them.',
    retryable: false,
    pairCount: '780',
    element: { kind: 'triangle', index: '7', vertices: [1, 2, 3] },
  });
  t.match(toProblem(new Error('boom')), { code: 'INTERNAL', status: 500, message: 'boom' });
});

t.test('JSON goes to stdout only when asked for, words always to stderr', async (t) => {
  for (const isJson of [false, true]) {
    const terminal = recordTerminal();
    reportProblem(terminal, refusal, isJson);
    t.match(terminal.written.err, /^error: INTERSECTING_START/);
    if (isJson) t.equal(JSON.parse(terminal.written.out).code, 'INTERSECTING_START');
    else t.equal(terminal.written.out, '');
  }
});

t.test('exit codes: usage 2, refusals 3, failures 5, an interrupt 130', async (t) => {
  t.equal(exitCodeOfError(new UsageError('no')), 2);
  t.equal(exitCodeOfError(new Error('boom')), 5);
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const isRefusal = (ERRORS[code].http < 500 && code !== 'QUEUE_FULL') || code === 'UNIMPLEMENTED';
    const expected = code === 'CANCELLED' ? 130 : isRefusal ? 3 : 5;
    t.equal(exitCodeOfError(new IntersticeError(code, 'x')), expected, code);
  }
  for (const code of ['QUEUE_FULL', 'DEADLINE_EXCEEDED'] as const) {
    t.equal(exitCodeOfError(new IntersticeError(code, 'x')), 5, `${code} says nothing about the input`);
  }
});
