import type { Worker } from 'node:worker_threads';
import type { Fault } from '../mutants/fault.js';
import type { Plant } from '../mutants/planting.js';

/*
 * Ways to break a running service from outside, by SIGWINCH, a signal to which nothing in the service listens. The
 * product has no such switches: they are planted in a copy of the build, like the mutants.
 */

const POOL = 'src/lanes/lane-worker.js';

type Constructor = (...parameters: unknown[]) => void;

export const SABOTAGE = {
  /** a thread ends, whatever it is doing */
  killedWorker: {
    name: 'killed-worker',
    faults: [
      {
        file: POOL,
        function: 'LaneWorker.constructor',
        instead: function (this: { thread: Worker }, original: Constructor, ...parameters: unknown[]) {
          original(...parameters);
          process.on('SIGWINCH', () => void this.thread.terminate());
        },
      },
    ],
  },
  /** a thread runs out of memory in the middle of its next step */
  outOfMemory: {
    name: 'out-of-memory',
    faults: [
      {
        file: POOL,
        function: 'LaneWorker.constructor',
        instead: (original: Constructor, setup: object, _limits: unknown, events: unknown) => {
          const shouldFillMemory = new Int32Array(new SharedArrayBuffer(4));
          process.on('SIGWINCH', () => Atomics.store(shouldFillMemory, 0, 1));
          original({ ...setup, shouldFillMemory }, { maxOldGenerationSizeMb: 96 }, events);
        },
      },
      {
        file: 'src/lanes/worker-thread.js',
        function: 'openEngine',
        instead: async (original: () => Promise<unknown>) => {
          const { workerData } = await import('node:worker_threads');
          Object.assign(globalThis, { shouldFillMemory: workerData.shouldFillMemory });
          return original();
        },
      },
      {
        file: 'src/lanes/messages.js',
        function: 'JobFlags.isCancelled',
        instead: (original: () => boolean) => {
          const { shouldFillMemory } = globalThis as { shouldFillMemory?: Int32Array };
          for (const kept: unknown[] = []; shouldFillMemory && Atomics.load(shouldFillMemory, 0) === 1; )
            kept.push(new Array(100_000).fill(0.5));
          return original();
        },
      },
    ],
  },
  /** the device is lost, whatever it is doing */
  lostDevice: {
    name: 'lost-device',
    faults: [
      {
        file: POOL,
        function: 'LaneWorker.constructor',
        instead: (original: Constructor, ...parameters: unknown[]) => {
          original(...parameters);
          const channel = new BroadcastChannel('sabotage');
          channel.unref();
          process.on('SIGWINCH', () => channel.postMessage('lose the device'));
        },
      },
      {
        file: 'gpu/device/live-device.js',
        function: 'LiveDevice.constructor',
        instead: (original: Constructor, memory: { device: GPUDevice }, ...parameters: unknown[]) => {
          original(memory, ...parameters);
          const channel = new BroadcastChannel('sabotage');
          channel.unref();
          channel.onmessage = () => memory.device.destroy();
        },
      },
    ],
  },
} as const satisfies Readonly<Record<string, Plant & { readonly faults: readonly Fault[] }>>;
