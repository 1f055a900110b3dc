import { requestOf } from '../../examples/resolve-scene.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { MeasuredOperations } from '../../src/contract/events.js';
import { spreadOf } from '../measure.js';
import type { Outcome } from './items.js';
import { openDeviceOperations, targetAt } from './service-item.js';

const SESSIONS = 16;
const VERTICES = 1000;
/** Frames that are not counted. */
const WARM_UP = 2;
/** Time in which frames are counted; each moves forward or back by a little, in contact. */
const COUNTED_MS = 8_000;
/** Time before it: a device is opened for each lane, sessions are created, and frames run that are not counted. */
const OPENING_MS = 10_000;

/**
 * Returns the time of the comparison, which does not depend on the device because it counts for a fixed time.
 *
 * @param counts numbers of lanes
 */
export const lanesMilliseconds = (counts: readonly number[]): number => counts.length * (COUNTED_MS + OPENING_MS);

/** Steps per second of many small sessions, each of which sends its next frame when it has received the last answer. */
async function stepsPerSecond(
  operations: MeasuredOperations,
): Promise<{ all: number; slowestShare: number; hasContact: boolean }> {
  const request = requestOf(SCENES.layers(VERTICES));
  const { mesh, start, parameters } = request;
  const ids = await Promise.all(
    Array.from({ length: SESSIONS }, async () => (await operations.createSession({ mesh, start, parameters })).id),
  );
  const step = (sessionId: string, frame: number) =>
    operations.step({ sessionId, target: targetAt(request, frame % 2 === 0 ? 0.6 : 0.62) });
  let hasContact = true;
  for (let frame = 0; frame < WARM_UP; frame++) {
    const answers = await Promise.all(ids.map((id) => step(id, frame)));
    hasContact = answers.every(({ report }) => report.pairs.activeContacts > 0);
  }
  const began = performance.now();
  const counts = await Promise.all(
    ids.map(async (id) => {
      let steps = 0;
      for (; performance.now() - began < COUNTED_MS; steps++) await step(id, steps);
      return steps;
    }),
  );
  const spent = performance.now() - began;
  const { median, min } = spreadOf(counts);
  return {
    all: (1000 * counts.reduce((sum, count) => sum + count, 0)) / spent,
    slowestShare: min / median,
    hasContact,
  };
}

/** @param counts numbers of lanes */
export async function measureLanes(counts: readonly number[]): Promise<Outcome> {
  const figures: { lanes: number; stepsPerSecond: number; slowestShare: number; openMilliseconds: number }[] = [];
  const faults: string[] = [];
  for (const lanes of counts) {
    const began = performance.now();
    const operations = await openDeviceOperations(lanes);
    const openMilliseconds = performance.now() - began;
    try {
      const { all, slowestShare, hasContact } = await stepsPerSecond(operations);
      if (!hasContact) faults.push(`a session on ${lanes} lanes has no contact`);
      figures.push({ lanes, stepsPerSecond: all, slowestShare, openMilliseconds });
    } finally {
      await operations.close();
    }
  }
  return {
    figures,
    faults,
    lines: figures.map(
      ({ lanes, stepsPerSecond: rate, slowestShare }) =>
        `${lanes} ${lanes === 1 ? 'lane' : 'lanes'}, ${SESSIONS} sessions of about ${VERTICES} vertices: ${rate.toFixed(1)} verified steps a second; ` +
        `the slowest session has ${(100 * slowestShare).toFixed(0)} % of the median's rate`,
    ),
  };
}
