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
