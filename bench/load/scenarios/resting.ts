import { GrpcClient, readStep, timingsOf } from '../../../src/load/grpc-client.js';
import { stepMessage } from '../../../src/load/messages.js';
import type { Row } from '../../../src/load/table.js';
import { makeCloth } from '../cloth.js';
import { median, withContestants } from '../contestants.js';
import type { ScenarioInput, ScenarioResult } from '../scenario.js';
import { openSessions } from '../sessions.js';

/** Resting steps of each build per round. */
const STEPS = 5;
/** A resting step may take at most this share of the time of the other build. */
const BAR = 1 / 4;

/**
 * Measures steps of one large session whose target is its current state: nothing moves, so nothing should need a test.
 */
export async function resting(input: ScenarioInput): Promise<ScenarioResult> {
  const { settings, tell } = input;
  const { rounds, vertices = 70_000 } = settings;
  const cloth = makeCloth(vertices);
  const taken = new Map<string, { total: number; verify: number }[]>();
  await withContestants(input, async (contestants) => {
    const players = [];
    for (const { name, server, quality } of contestants) {
      tell(`opening a session of ${cloth.vertices} vertices, ${name} …`);
      const [id] = await openSessions(server.grpcAddress, cloth, 1, quality);
      const client = new GrpcClient(server.grpcAddress);
      const step = async () => {
        const { code, bytes } = await client.call('Step', stepMessage(id!, cloth.start), id);
        if (code !== 'OK') throw new Error(`A step was refused: ${code}.`);
        const timings = timingsOf(readStep(bytes!))!;
        return { total: timings.total! / 1000, verify: timings.verify! / 1000 };
      };
      // The first step finds the pairs that the others reuse.
      await step();
      players.push({ name, client, step });
      taken.set(name, []);
    }
    for (let round = 0; round < rounds; round++) {
      for (const { name, step } of players) {
        for (let n = 0; n < STEPS; n++) taken.get(name)!.push(await step());
      }
    }
    for (const { client } of players) client.close();
  });
  const totals = [...taken].map(([name, steps]) => ({ name, total: median(steps.map(({ total }) => total)) }));
  const other = totals.find(({ name }) => name === 'other build');
  const rows: Row[] = [...taken].map(([name, steps]) => ({
    run: name,
    'total ms': median(steps.map(({ total }) => total)),
    'verify ms': median(steps.map(({ verify }) => verify)),
    share: other ? median(steps.map(({ total }) => total)) / other.total : Number.NaN,
  }));
  return {
    scenario: 'resting',
    tables: [{ heading: `Resting steps of ${cloth.vertices} vertices, medians of ${rounds * STEPS}`, rows }],
    verdicts: other
      ? totals
          .filter((one) => one !== other)
          .map(({ name, total }) => ({
            bar: `a resting step of ${name} takes at most ${100 * BAR} % of the other build's`,
            isMet: total <= BAR * other.total,
            measured: `${total.toFixed(1)} to ${other.total.toFixed(1)} ms: ${((100 * total) / other.total).toFixed(1)} %`,
          }))
      : [],
    details: { vertices: cloth.vertices, triangles: cloth.triangles, taken: Object.fromEntries(taken) },
  };
}
