import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ProveCase } from '../cases/cases.js';
import { takeTrace } from '../cases/trace-files.js';
import { type Bench, type Outcome, tryCase } from '../cases/try-case.js';
import { type DoorName, makePatient, openDoors } from '../doors/doors.js';
import { GENERATED } from '../scenes/generated.js';
import { Random } from '../scenes/random.js';
import { PLAIN } from '../scenes/variation.js';
import { ServerProcess } from '../server.js';
import { assert } from './tools.js';

/**
 * bytes of the device: room for two of the three sessions whatever is drawn, so that one parks another, and enough for a
 * step of any of them beside the others at work
 */
const DEVICE_BYTES = { cpu: 130_000, webgpu: 1_300_000 };
/** s: longer than the time between two requests on a busy machine, or sessions would expire between any two of them */
const IDLE_TIMEOUT = 1.5;
/** ms: every other wait is longer than a session lives */
const LONGEST_WAIT = 3000;
const MAX_ROUNDS = 4;
/** Small meshes, so that there are many frames. */
const SESSIONS: readonly (readonly [string, DoorName])[] = [
  ['handkerchiefs', 'JSON'],
  ['neighbours', 'PROTOBUF'],
  ['tangle', 'GRPC'],
];

/**
 * Concurrent sessions on a service that has room for only some of them and expires idle ones, while their clients hang
 * up, send frames again, send wrong input and wait. Every answer and path is judged from the last answer that arrived;
 * an expired session is created again from it.
 */
export async function parkedAndExpired(engine: 'cpu' | 'webgpu', random: Random): Promise<string> {
  const traceFolder = mkdtempSync(join(tmpdir(), 'interstice-prove-'));
  const server = await ServerProcess.start({
    engine,
    environment: {
      INTERSTICE_TRACE: traceFolder,
      INTERSTICE_MAX_DEVICE_BYTES: String(DEVICE_BYTES[engine]),
      INTERSTICE_IDLE_TIMEOUT_SECONDS: String(IDLE_TIMEOUT),
    },
  });
  const doors = makePatient(openDoors(server), (requestId) => takeTrace(traceFolder, requestId));
  try {
    const bench: Bench = {
      doors,
      frames: 0,
      longFrames: 0,
      until: Number.POSITIVE_INFINITY,
      traceFolder,
      isUnverified: false,
      longestWait: LONGEST_WAIT,
    };
    const most = watchParked(server.adminAddress);
    const outcomes: Outcome[] = [];
    const expiries = () => outcomes.reduce((total, { endings }) => total + (endings.SESSION_NOT_FOUND ?? 0), 0);
    try {
      // Parking and expiry depend on chance: the sessions are repeated until both have happened.
      for (let n = 0; n < MAX_ROUNDS && (most.parked === 0 || expiries() === 0); n++) {
        const sessions = SESSIONS.map(([scene, door], k) =>
          runSession(scene, door, (random.seed + 31 * n + k) >>> 0, bench),
        );
        outcomes.push(...(await Promise.all(sessions)));
      }
    } finally {
      await most.stop();
    }
    for (const { findings } of outcomes) {
      assert(findings.length === 0, findings.map(({ promise, details }) => `${promise}: ${details}`).join('; '));
    }
    assert(server.isAlive, 'The server ended.');
    assert(most.parked > 0, 'No session was ever parked.');
    assert(expiries() > 0, 'No session expired.');
    const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
    return `${sum(({ answers }) => answers)} answers and ${sum(({ pieces }) => pieces)} path pieces judged; ${most.parked} of ${SESSIONS.length} sessions were parked at a time, and sessions expired ${expiries()} times`;
  } finally {
    for (const door of Object.values(doors)) door.close();
    await server.stop();
    rmSync(traceFolder, { recursive: true, force: true });
  }
}

function runSession(scene: string, door: DoorName, seed: number, bench: Bench): Promise<Outcome> {
  const prove: ProveCase = {
    id: `rough-${scene}`,
    scene,
    seed,
    mode: 'ROUGH_SESSION',
    door,
    variation: scene === 'tangle' ? { ...PLAIN, isIgnoring: true } : PLAIN,
  };
  return tryCase(prove, GENERATED[scene](new Random(seed)), bench);
}

/** The largest number of sessions that are parked at the same time, by the metrics. */
function watchParked(address: string): { readonly parked: number; readonly stop: () => Promise<void> } {
  const most = { parked: 0 };
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      const page = await (await fetch(`${address}/metrics`)).text();
      const value = page.match(/^interstice_sessions\{residency="parked"\} (\d+)$/m)?.[1];
      most.parked = Math.max(most.parked, Number(value ?? 0));
      await wait(LOOK_MS);
    }
  };
  const looking = look();
  looking.catch(() => {});
  return {
    get parked() {
      return most.parked;
    },
    stop: () => {
      isOver = true;
      return looking;
    },
  };
}

const LOOK_MS = 20;
