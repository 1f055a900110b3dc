import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { openSeat, type SeatAddress } from '../load/doors.js';
import { drive } from '../load/drive.js';
import { createMessage } from '../load/messages.js';
import { readMetric, readPage } from '../load/metrics-page.js';
import { percentile, type Sample } from '../load/sample.js';
import { makeSheets } from '../load/sheets.js';
import { algorithmVersion, packageVersion } from '../paths.js';
import { type Costs, isOnDevice, type SizeCost } from './costs.js';

export interface Measurement {
  readonly address: SeatAddress;
  /** of the admin port, http://HOST:PORT */
  readonly admin: string;
  readonly triangles: readonly number[];
  /** seconds of each size, after a warm-up of a quarter of that time */
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
/** Smallest number of steps of each session that count, however long they take. */
const LEAST_STEPS = 4;
const LOOK_MS = 250;
const PROCESSOR_SECONDS = 'process_cpu_seconds_total';
const WORK_BYTES = 'interstice_work_bytes';
const DEVICE_BYTES = 'interstice_device_buffer_bytes';

interface Info {
  readonly engines: readonly { readonly name: string; readonly adapter: string; readonly software: boolean }[];
}

/**
 * Measures the costs of steps on a service that does nothing else.
 *
 * @throws if it refuses a session or does not answer; AbortError
 */
export async function measureCosts(measurement: Measurement): Promise<Costs> {
  const { address, admin, motion, quality, command, tell } = measurement;
  const loadBefore = loadavg()[0]!;
  const [engine] = ((await (await fetch(`${address.http}/v1`)).json()) as Info).engines;
  if (engine === undefined) throw new Error('The service names no engine.');
  const lanes = measurement.lanes ?? availableParallelism();
  const baseBytes = readMetric(await readPage(admin), 'process_resident_memory_bytes');
  const sizes: SizeCost[] = [];
  // Every thread compiles its code before the measurement.
  const hasDevice = isOnDevice({ engine: engine.name });
  await measureSize(Math.min(...measurement.triangles), lanes, hasDevice, {
    ...measurement,
    seconds: 2 * measurement.seconds,
  });
  for (const triangles of measurement.triangles) {
    const size = await measureSize(triangles, lanes, hasDevice, measurement);
    tell(`${size.triangles} triangles: ${size.throughput.toFixed(2)} steps/s, ${lanes} at a time`);
    sizes.push(size);
  }
  return {
    date: new Date().toISOString(),
    version: packageVersion,
    algorithmVersion,
    command,
    machine: { processor: cpus()[0]?.model ?? '', cores: availableParallelism(), memoryBytes: totalmem() },
    engine: engine.name,
    adapter: engine.adapter,
    ...(hasDevice ? { isSoftware: engine.software } : {}),
    loadBefore,
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
  hasDevice: boolean,
  { address, admin, seconds, motion, quality, signal }: Measurement,
): Promise<SizeCost> {
  const subject = makeSheets(triangles, motion / 100);
  const seats = Array.from({ length: lanes }, (_, lane) => openSeat('http', address, `plan-${triangles}-${lane}`));
  const run = (pace: { seconds: number; steps?: number }): Promise<Sample[]> =>
    drive(
      async (session, turn) => {
        const { code, ...outcome } = await seats[session]!.step(subject.targets[turn % 2]!, {});
        // A cost without the refused steps would be too low.
        if (code !== 'OK') throw new Error(`A step of ${subject.triangles} triangles was refused: ${code}.`);
        return { session, code, ...outcome };
      },
      { loops: lanes, signal, ...pace },
    );
  let watch: ReturnType<typeof watchMost> | undefined;
  try {
    const before = await readPage(admin);
    const empty = held(before);
    const creation = createMessage(subject, { quality, label: 'interstice plan' });
    for (const seat of seats) await seat.open(creation);
    await run({ seconds: seconds / 4 });
    // A size whose steps take longer than the time is measured with a few steps.
    watch = watchMost(admin, [WORK_BYTES, DEVICE_BYTES]);
    const spentBefore = readMetric(await readPage(admin), PROCESSOR_SECONDS);
    let steps = 0;
    let samples = await run({ seconds });
    steps += samples.length;
    if (samples.length < LEAST_STEPS * lanes) {
      samples = await run({ seconds, steps: LEAST_STEPS });
      steps += samples.length;
    }
    // A measurement that Ctrl-C ended is not meaningful.
    signal?.throwIfAborted();
    const processorMs = (1000 * (readMetric(await readPage(admin), PROCESSOR_SECONDS) - spentBefore)) / steps;
    const [workBytes, deviceBytes] = (await watch.stop()) as [number, number];
    const after = await readPage(admin);
    const onDevice = {
      deviceSessionBytes: Math.max(0, readMetric(after, DEVICE_BYTES) - readMetric(before, DEVICE_BYTES)) / lanes,
      deviceBytes,
    };
    const times = samples.map(({ ms }) => ms);
    const spent = Math.max(...samples.map(({ at = 0, ms }) => at + ms));
    return {
      triangles: subject.triangles,
      vertices: subject.vertices,
      throughput: (1000 * samples.length) / spent,
      processorMs,
      quantiles: Array.from({ length: QUANTILES + 1 }, (_, i) => percentile(times, (100 * i) / QUANTILES)),
      sessionBytes: (held(after) - empty) / lanes,
      workBytes,
      ...(hasDevice ? onDevice : {}),
    };
  } finally {
    watch?.end();
    await Promise.all(seats.map((seat) => seat.close()));
  }
}

/** Memory of the service for its sessions on the host, and for their scenes. */
const held = (page: string): number =>
  readMetric(page, 'interstice_host_bytes') + readMetric(page, 'interstice_device_bytes');

/** Watches the largest values of some metrics: `stop` returns them, `end` gives up. */
function watchMost(admin: string, names: readonly string[]): { stop(): Promise<number[]>; end(): void } {
  let most = names.map(() => 0);
  let look = Promise.resolve();
  const note = async (): Promise<void> => {
    const page = await readPage(admin);
    most = names.map((name, k) => Math.max(most[k]!, readMetric(page, name)));
  };
  const timer = setInterval(() => {
    look = look.then(note);
    // The failure is thrown where it is awaited.
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
