import { setTimeout as pause } from 'node:timers/promises';
import { team } from '../../src/threads/here.js';
import { HelperPool } from '../../src/threads/pool.js';
import { defineStage } from '../../src/threads/stage.js';

/** Does nothing, for a long time as the team sees it. */
const NOTHING = defineStage(import.meta.url, 'nothing', (_: { readonly none: Uint8Array }) => undefined);

/**
 * Computes `work` on this thread with cores − 1 helpers, all of them ready; with one core alone. Engines and scenes must be
 * opened within `work`, because their arrays must be in shared memory.
 */
export async function withCores<T>(cores: number, work: () => Promise<T>): Promise<T> {
  const pool = new HelperPool(cores);
  const { link, forget } = pool.connect();
  team.join(link);
  try {
    // The first runs ask for helpers and are computed without them.
    while (pool.ready < cores - 1) {
      const none = new Uint8Array(new SharedArrayBuffer(1));
      team.run({ stage: NOTHING, arrays: { none }, numbers: {}, count: 2, chunk: 1, cost: 1e9 });
      await pause(10);
    }
    return await work();
  } finally {
    team.leave();
    forget();
    await pool.close();
  }
}

/** More rounds than this mean that helpers never take part. */
const MOST_ROUNDS = 300;

/**
 * Makes rounds of work until helpers have taken part in one: on a busy machine they may wake up after the work is done.
 *
 * @param least rounds that are made in any case
 * @returns whether they have taken part
 */
export async function untilHelped(round: () => void | Promise<void>, least = 1): Promise<boolean> {
  const before = team.helpedChunks;
  const hasHelped = () => team.helpedChunks > before;
  for (let n = 0; n < least || (n < MOST_ROUNDS && !hasHelped()); n++) await round();
  return hasHelped();
}
