import fc from 'fast-check';
import t from 'tap';
import type { CallContext } from '../../src/contract/call-context.js';
import { IntersticeError } from '../../src/contract/errors.js';
import type { SessionInfo, StepAnswer, StepRequest } from '../../src/contract/sessions.js';
import { seeded } from '../support/random.js';
import { settle } from './fake-scheduler.js';
import { at, opening, openRoom } from './room.js';

/**
 * Any interleaving of valid, invalid, cancelled and repeated steps, of failures and of the ends of jobs, leaves the session in
 * the state to which the accepted steps lead, one after the other. The answers that callers got say which steps were accepted,
 * not the session.
 */

interface Sent {
  readonly request: StepRequest;
  readonly abort: AbortController;
  answer: StepAnswer | undefined;
  code: string | undefined;
}

type Action =
  | {
      readonly do: 'send';
      readonly frame: number | undefined;
      readonly target: number | undefined;
      readonly isWrong: boolean;
    }
  | { readonly do: 'repeat'; readonly which: number }
  | { readonly do: 'cancel'; readonly which: number }
  | { readonly do: 'finish' }
  | { readonly do: 'finishAndCancel' }
  | { readonly do: 'fail' };

const index = fc.nat({ max: 50 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      frame: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
      target: fc.option(fc.integer({ min: -8, max: 8 }), { nil: undefined }),
      isWrong: fc.nat({ max: 9 }).map((roll) => roll === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: index }) },
  { weight: 4, arbitrary: fc.constant({ do: 'finish' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'finishAndCancel' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'fail' as const }) },
);

t.test('any interleaving leaves the session in the state to which the accepted steps lead', async (t) => {
  const { seed } = seeded();
  t.comment(`TEST_SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const { operations, scheduler } = openRoom(t);
      const session: SessionInfo = await operations.createSession(opening());
      scheduler.isManual = true;
      const sent: Sent[] = [];
      const ended = new Set<unknown>();
      const send = (request: StepRequest) => {
        const one: Sent = { request, abort: new AbortController(), answer: undefined, code: undefined };
        sent.push(one);
        const context: CallContext = { signal: one.abort.signal };
        operations.step(request, context).then(
          (answer) => {
            one.answer = answer;
          },
          (thrown: unknown) => {
            one.code = IntersticeError.from(thrown).code;
          },
        );
      };
      const job = () => scheduler.steps.find((candidate) => !ended.has(candidate) && !candidate.hooks.signal!.aborted);
      for (const step of actions) {
        if (step.do === 'send') {
          send({
            sessionId: session.id,
            ...(step.frame === undefined ? {} : { frame: BigInt(step.frame) }),
            ...(step.target === undefined ? {} : { target: step.isWrong ? new Float32Array(2) : at(step.target) }),
          });
        } else if (step.do === 'repeat') {
          const known = sent[step.which % Math.max(1, sent.length)];
          if (known) send(known.request);
        } else if (step.do === 'cancel') {
          sent[step.which % Math.max(1, sent.length)]?.abort.abort();
        } else {
          const running = job();
          if (!running) continue;
          ended.add(running);
          if (step.do === 'fail') running.fail(new IntersticeError('DEVICE_LOST', 'x'));
          else running.finish();
          // Aborted before the answer reaches the session: no caller is left to take it.
          if (step.do === 'finishAndCancel') for (const one of sent) if (!one.answer) one.abort.abort();
        }
        await settle();
      }
      for (;;) {
        const running = job();
        if (!running) break;
        ended.add(running);
        running.finish();
        await settle();
      }

      // The expected result: the accepted steps in the order of their frames.
      const accepted = new Map<bigint, Sent>();
      for (const one of sent) {
        if (one.answer && !one.answer.isReplay) {
          if (accepted.has(one.answer.frame)) throw new Error(`frame ${one.answer.frame} was accepted twice`);
          accepted.set(one.answer.frame, one);
        }
        if (!one.answer && !one.code) throw new Error('a call was never answered');
      }
      let state = 0;
      let target = 0;
      let last = 0n;
      for (const [frame, { request, answer }] of [...accepted].sort(([a], [b]) => (a < b ? -1 : 1))) {
        target = request.target?.[0] ?? target;
        state = Math.fround((state + target) / 2);
        if (answer!.positions[0] !== state)
          throw new Error(`frame ${frame} is at ${answer!.positions[0]}, not ${state}`);
        last = frame;
      }
      for (const { request, answer } of sent) {
        if (!answer?.isReplay) continue;
        const first = accepted.get(answer.frame);
        // A replay implies that some caller took the first answer.
        if (first?.answer?.positions !== answer.positions) throw new Error('a replay is another answer');
        if (request.frame !== answer.frame) throw new Error('a replay of another frame');
      }
      const info = await operations.getSession(session.id);
      if (info.frame !== last) throw new Error(`the session is at frame ${info.frame}, not ${last}`);
      const check = operations.check({ sessionId: session.id });
      await check;
      if (scheduler.checks.at(-1)!.request.positions[0] !== state) throw new Error('the state is another one');
      if (operations.stats().waiting !== 0) throw new Error('something waits for ever');
    }),
    { seed: seed | 0, numRuns: 150 },
  );
  t.pass();
});
