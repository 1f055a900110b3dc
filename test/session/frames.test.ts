import t from 'tap';
import type { StepRequest } from '../../src/contract/sessions.js';
import { checkFrame, checkPlace, isRetryOf, isSettled, judgeFrame } from '../../src/session/frames.js';

const step = (frame: bigint | undefined, target = 1): StepRequest => ({
  sessionId: 'x',
  target: Float32Array.of(target),
  ...(frame === undefined ? {} : { frame }),
});
const MOST = 2n ** 64n - 1n;

/** The verdict or the error code. */
function verdictOn(request: StepRequest, lastFrame: bigint): string {
  try {
    checkFrame(request.frame);
    const verdict = judgeFrame(request, { frame: lastFrame, request: lastFrame === 0n ? undefined : step(lastFrame) });
    return verdict.kind === 'accept' ? `accept ${verdict.frame}` : verdict.kind;
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
}

t.test('the verdict on every combination of requested and last frame', async (t) => {
  const rows: [asked: bigint | undefined, last: bigint, target: number, verdict: string][] = [
    [undefined, 0n, 1, 'accept 1'],
    [undefined, 7n, 1, 'accept 8'],
    [undefined, MOST - 1n, 1, `accept ${MOST}`],
    [undefined, MOST, 1, 'INVALID_PARAMETER'],
    [1n, 0n, 1, 'accept 1'],
    [100n, 0n, 1, 'accept 100'],
    [8n, 7n, 1, 'accept 8'],
    [MOST, 7n, 1, `accept ${MOST}`],
    [7n, 7n, 1, 'replay'],
    [7n, 7n, 2, 'FRAME_CONFLICT'],
    [MOST, MOST, 1, 'replay'],
    [6n, 7n, 1, 'FRAME_OUT_OF_ORDER'],
    [1n, 7n, 1, 'FRAME_OUT_OF_ORDER'],
    [0n, 7n, 1, 'FRAME_OUT_OF_ORDER'],
    [0n, 0n, 1, 'FRAME_OUT_OF_ORDER'],
    [-1n, 0n, 1, 'INVALID_PARAMETER'],
    [MOST + 1n, 7n, 1, 'INVALID_PARAMETER'],
  ];
  for (const [asked, last, target, verdict] of rows) {
    t.equal(verdictOn(step(asked, target), last), verdict, `${asked} after ${last}`);
  }
});

t.test('a frame that is not greater than the last one is settled, whatever is pending', async (t) => {
  t.equal(isSettled(undefined, { frame: 3n }), false);
  t.equal(isSettled(4n, { frame: 3n }), false);
  t.equal(isSettled(3n, { frame: 3n }), true);
  t.equal(isSettled(0n, { frame: 0n }), true);
});

t.test('a request with the frame and payload of a pending step is a retry', async (t) => {
  t.ok(isRetryOf(step(5n), { frame: 5n, request: step(5n) }, { frame: 4n }));
  t.ok(isRetryOf(step(5n), { frame: 5n, request: step(undefined) }, { frame: 4n }), 'a step that was given its frame');
  t.notOk(isRetryOf(step(6n), { frame: 5n, request: step(5n) }, { frame: 4n }));
  t.notOk(
    isRetryOf(step(undefined), { frame: undefined, request: step(undefined) }, { frame: 4n }),
    'unset is never a retry',
  );
  t.throws(() => isRetryOf(step(5n, 2), { frame: 5n, request: step(5n) }, { frame: 4n }), {
    code: 'FRAME_CONFLICT',
    frame: 4n,
    hint: /Wait for the answer/,
  });
});

t.test('a step that continues from another frame than that of the session says how to react', async (t) => {
  const from = (afterFrame?: bigint) => () =>
    checkPlace({ ...step(undefined), ...(afterFrame === undefined ? {} : { afterFrame }) }, { frame: 6n });
  t.doesNotThrow(from());
  t.doesNotThrow(from(6n));
  t.throws(from(7n), { code: 'FRAME_LOST', frame: 6n });
  t.throws(from(5n), { code: 'FRAME_CONFLICT', frame: 6n, hint: /accepted steps after that frame/ });
});
