import t from 'tap';
import { makeCloth } from '../../bench/load/cloth.js';
import { settleHoldings } from '../../bench/load/gauges.js';
import { openSessions } from '../../bench/load/sessions.js';
import { seeded } from '../support/random.js';
import { carryOut, drawAttack } from './http-attacks.js';
import { codeOf, objectionTo, parseAnswers } from './http-judge.js';
import { deleteAllSessions, endOfAttacks, FUZZ_SECONDS, prepareTwin, startService } from './service.js';

/** Attackers at a time. */
const ATTACKERS = 8;
/** Faults that are collected before the attacks end. */
const MAX_FAULTS = 10;
/** Outcomes that the attacks have to reach. */
const WANTED = ['200', 'MALFORMED_BODY', 'UNSUPPORTED_MEDIA_TYPE', 'UNKNOWN_FIELD', 'NOT_FOUND', 'TOO_LARGE'];

t.test(
  'whatever comes to the HTTP port, the answer is a result or a typed refusal, and no other caller is affected',
  async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}, ${FUZZ_SECONDS} s`);
    const { server, faults } = await startService(t);
    const playTwin = await prepareTwin(server);
    const [victim] = await openSessions(server.grpcAddress, makeCloth(8), 1);
    const port = Number(new URL(server.address).port);
    const outcomes = new Map<string, number>();
    const isOver = endOfAttacks(outcomes, WANTED);
    const wrong: string[] = [];
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

    const attacker = async () => {
      while (!isOver() && server.isAlive && wrong.length < MAX_FAULTS) {
        const attack = drawAttack(victim!, random);
        const { bytes, isClosed } = await carryOut(attack, port);
        const { answers, rest } = parseAnswers(bytes);
        const written = Buffer.concat(attack.chunks.map((chunk) => Buffer.from(chunk)));
        const note = (what: string) =>
          wrong.push(`${attack.name}: ${what}\n${written.subarray(0, 1500).toString('base64')}`);
        for (const answer of answers) {
          count(codeOf(answer));
          const objection = objectionTo(answer);
          if (objection) note(objection);
        }
        if (attack.end === 'cut') continue;
        // HEAD has a length and no body.
        const isHead = written.subarray(0, 4).toString() === 'HEAD';
        if (rest.length > 0 && !isHead) note(`an answer that is not whole: ${rest.toString('latin1').slice(0, 200)}`);
        if (answers.length === 0 && !isHead) {
          count(isClosed ? 'closed without a word' : 'silence');
          if (!isClosed) note('silence');
        }
      }
    };
    const attackers = Promise.all(Array.from({ length: ATTACKERS }, attacker));
    const [twin] = await Promise.all([playTwin(isOver), attackers]);

    t.comment(JSON.stringify(Object.fromEntries([...outcomes].sort())));
    t.same(wrong, [], 'every answer is one of the contract');
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
