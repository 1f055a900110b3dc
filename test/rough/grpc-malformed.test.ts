import t from 'tap';
import { makeCloth } from '../../bench/load/cloth.js';
import { settleHoldings } from '../../bench/load/gauges.js';
import { openSessions } from '../../bench/load/sessions.js';
import { seeded } from '../support/random.js';
import { carryOutCall, drawBytes, drawCall, openConnection, sendBytes } from './grpc-attacks.js';
import { objectionTo, outcomeOf } from './grpc-judge.js';
import { deleteAllSessions, endOfAttacks, FUZZ_SECONDS, prepareTwin, startService } from './service.js';

/** Attackers with calls, and with bytes that are no calls. */
const CALLERS = 6;
const SPOILERS = 2;
/** Calls of one connection before the next: refused ones may close it as well. */
const CALLS_A_CONNECTION = 50;
/** Faults that are collected before the attacks end. */
const MAX_FAULTS = 10;
/** Outcomes that the attacks have to reach. */
const WANTED = ['GRPC 0', 'MALFORMED_BODY', 'TOO_LARGE', 'UNKNOWN_FIELD', 'GRPC 12'];

t.test(
  'whatever comes to the gRPC port, calls end with a result or a typed refusal, and no other caller is affected',
  async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}, ${FUZZ_SECONDS} s`);
    const { server, faults } = await startService(t);
    const playTwin = await prepareTwin(server);
    const [victim] = await openSessions(server.grpcAddress, makeCloth(8), 1);
    const port = Number(server.grpcAddress.split(':').pop());
    const outcomes = new Map<string, number>();
    const isOver = endOfAttacks(outcomes, WANTED);
    const isUseful = () => !isOver() && server.isAlive && wrong.length < MAX_FAULTS;
    const wrong: string[] = [];
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

    const caller = async () => {
      while (isUseful()) {
        const session = openConnection(port);
        for (let i = 0; i < CALLS_A_CONNECTION && isUseful() && !session.destroyed && !session.closed; i++) {
          const attack = drawCall(victim!, random);
          const ended = await carryOutCall(session, attack);
          if (ended === undefined) continue;
          count(ended === 'silence' ? ended : outcomeOf(ended));
          const objection = ended === 'silence' ? ended : objectionTo(ended, attack.isOurMethod);
          if (!objection) continue;
          const sent = Buffer.concat(attack.chunks).subarray(0, 1500).toString('base64');
          wrong.push(`${attack.name}: ${objection}\n${JSON.stringify(attack.headers).slice(0, 400)}\n${sent}`);
        }
        session.destroy();
      }
    };
    const spoiler = async () => {
      while (isUseful()) await sendBytes(drawBytes(random), port);
    };
    const attackers = [...Array.from({ length: CALLERS }, caller), ...Array.from({ length: SPOILERS }, spoiler)];
    const [twin] = await Promise.all([playTwin(isOver), ...attackers]);

    t.comment(JSON.stringify(Object.fromEntries([...outcomes].sort())));
    t.same(wrong, [], 'every call ends in the words of the contract');
    t.ok(server.isAlive, 'the service lives');
    t.same(faults, [], 'it logged no fault of its own');
    t.ok(twin.compared > 0, 'the bystander made steps');
    t.equal(twin.different, 0, 'and got the bytes that it gets alone');
    for (const code of WANTED) {
      t.ok(outcomes.has(code), `${code} was reached`);
    }
    await deleteAllSessions(server);
    t.match(await settleHoldings(server), {
      sessions: 0,
      waiting: 0,
      running: 0,
      deviceBytes: 0,
      hostBytes: 0,
      inFlight: 0,
    });
  },
);
