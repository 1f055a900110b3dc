import { availableParallelism, cpus, totalmem } from 'node:os';
import { openSeat, type SeatAddress } from '../load/doors.js';
import { drive } from '../load/drive.js';
import { createMessage } from '../load/messages.js';
import { readMetric, readPage } from '../load/metrics-page.js';
import { percentile, type Sample } from '../load/sample.js';
import { makeSheets } from '../load/sheets.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import type { Costs, SizeCost } from './costs.js';

export interface Measurement {
  readonly address: SeatAddress;
  /** of the admin port, http://HOST:PORT */
  readonly admin: string;
  readonly triangles: readonly number[];
  /** seconds of each size, after as long a warm-up as a quarter of it */
  readonly seconds: number;
  /** percent of the gap between the sheets */
  readonly motion: number;
  /** sessions at a time; undefined: as many as the machine has cores */
  readonly lanes?: number | undefined;
  readonly quality: 'FAST' | 'BALANCED' | 'FINE';
  readonly command: string;
  readonly signal?: AbortSignal | undefined;
  readonly tell: (line: string) => void;
}

const QUANTILES = 20;
/** Steps of each session that count at least, however long they take. */
const LEAST_STEPS = 4;
const LOOK_MS = 250;
const PROCESSOR_SECONDS = 'process_cpu_seconds_total';

/** Measures what steps cost on a service that does nothing else. @throws where it refuses a session or does not answer; AbortError */
export async function measureCosts(measurement: Measurement): Promise<Costs> {
  const { address, admin, motion, quality, command, tell } = measurement;
  const info = (await (await fetch(`${address.http}/v1`)).json()) as { engines: { name: string; adapter: string }[] };
  const lanes = measurement.lanes ?? availableParallelism();
  const baseBytes = readMetric(await readPage(admin), 'process_resident_memory_bytes');
  const sizes: SizeCost[] = [];
  // Every thread compiles its code before anything counts.
  await measureSize(Math.min(...measurement.triangles), lanes, { ...measurement, seconds: 2 * measurement.seconds });
  for (const triangles of measurement.triangles) {
    const size = await measureSize(triangles, lanes, measurement);
    tell(`${size.triangles} triangles: ${size.throughput.toFixed(2)} steps/s, ${lanes} at a time`);
    sizes.push(size);
  }
  return {
    date: new Date().toISOString(),
    version: packageVersion,
    algorithmVersion,
    command,
    machine: { processor: cpus()[0]?.model ?? '', cores: availableParallelism(), memoryBytes: totalmem() },
    engine: info.engines[0]?.name ?? '',
    adapter: info.engines[0]?.adapter ?? '',
    quality,
    motion,
    lanes,
    baseBytes,
    sizes,
  };
}

async function measureSize(
  triangles: number,
  lanes: number,
  { address, admin, seconds, motion, quality, signal }: Measurement,
): Promise<SizeCost> {
  const subject = makeSheets(triangles, motion / 100);
  const seats = Array.from({ length: lanes }, (_, lane) => openSeat('http', address, `plan-${triangles}-${lane}`));
  const run = (pace: { seconds: number; steps?: number }): Promise<Sample[]> =>
    drive(
      async (session, turn) => {
        const { code, ...outcome } = await seats[session]!.step(subject.targets[turn % 2]!, {});
        // A cost that leaves out what was refused would be too low.
        if (code !== 'OK') throw new Error(`A step of ${subject.triangles} triangles was refused: ${code}.`);
        return { session, code, ...outcome };
      },
      { loops: lanes, signal, ...pace },
    );
  let watch: ReturnType<typeof watchWork> | undefined;
  try {
    const empty = held(await readPage(admin));
    const creation = createMessage(subject, { quality, label: 'interstice plan' });
    for (const seat of seats) await seat.open(creation);
    await run({ seconds: seconds / 4 });
    // A size whose step takes longer than the time is measured by a few steps.
    watch = watchWork(admin);
    const spentBefore = readMetric(await readPage(admin), PROCESSOR_SECONDS);
    let steps = 0;
    let samples = await run({ seconds });
    steps += samples.length;
    if (samples.length < LEAST_STEPS * lanes) {
      samples = await run({ seconds, steps: LEAST_STEPS });
      steps += samples.length;
    }
    // What was measured until Ctrl-C says nothing.
    signal?.throwIfAborted();
    const processorMs = (1000 * (readMetric(await readPage(admin), PROCESSOR_SECONDS) - spentBefore)) / steps;
    const workBytes = await watch.stop();
    const times = samples.map(({ ms }) => ms);
    const spent = Math.max(...samples.map(({ at = 0, ms }) => at + ms));
    return {
      triangles: subject.triangles,
      vertices: subject.vertices,
      throughput: (1000 * samples.length) / spent,
      processorMs,
      quantiles: Array.from({ length: QUANTILES + 1 }, (_, i) => percentile(times, (100 * i) / QUANTILES)),
      sessionBytes: (held(await readPage(admin)) - empty) / lanes,
      workBytes,
    };
  } finally {
    watch?.end();
    await Promise.all(seats.map((seat) => seat.close()));
  }
}

/** What the service holds for its sessions, on the host, and for their scenes. */
const held = (page: string): number =>
  readMetric(page, 'interstice_host_bytes') + readMetric(page, 'interstice_device_bytes');

/** The most working memory between now and its end: `stop` says it, `end` gives up. */
function watchWork(admin: string): { stop(): Promise<number>; end(): void } {
  let most = 0;
  let look = Promise.resolve();
  const note = async (): Promise<void> => {
    const page = await readPage(admin);
    most = Math.max(most, readMetric(page, 'interstice_work_bytes'));
  };
  const timer = setInterval(() => {
    look = look.then(note);
    // Thrown where it is awaited.
    look.catch(() => undefined);
  }, LOOK_MS);
  const end = (): void => clearInterval(timer);
  return {
    end,
    async stop() {
      end();
      await look;
      await note();
      return most;
    },
  };
}
