import type { Edit, Plant } from './planting.js';

/*
 * Ways to break a running service from outside, by SIGWINCH, a signal that nothing in the service
 * listens to. The product has no such switches: they are planted
 * in a copy of the build, as the mutants are.
 */

const POOL = 'src/lanes/pool-worker.js';
const WORKER = 'src/lanes/worker-jobs.js';

const onSignal = (action: string): Edit => ({
  file: POOL,
  search: 'this.closesFirst = setup.engine.closesFirst ?? false;',
  replacement: `this.closesFirst = setup.engine.closesFirst ?? false;\n        process.on('SIGWINCH', () => void ${action});`,
});

export const SABOTAGE = {
  /** a thread ends, whatever it is doing */
  killedWorker: { name: 'killed-worker', edits: [onSignal('this.thread.terminate()')] },
  /** a thread eats all of its memory in the middle of its next step */
  outOfMemory: {
    name: 'out-of-memory',
    edits: [
      onSignal('Atomics.store(setup.hunger, 0, 1)'),
      {
        file: POOL,
        search: 'constructor(setup, resourceLimits, onGone) {',
        replacement:
          'constructor(plainSetup, resourceLimits, onGone) {\n        const setup = { ...plainSetup, hunger: new Int32Array(new SharedArrayBuffer(4)) };',
      },
      {
        file: POOL,
        search: '            resourceLimits,\n',
        replacement: '            resourceLimits: { maxOldGenerationSizeMb: 96 },\n',
      },
      {
        file: WORKER,
        search: 'const engine = await openEngineOrEnd();',
        replacement: `globalThis.eatAll = () => {
    for (const kept = []; Atomics.load(setup.hunger, 0) === 1;) kept.push(new Array(100000).fill(0.5));
    return false;
};
const engine = await openEngineOrEnd();`,
      },
      {
        file: 'src/jobs/compute-answer.js',
        search: 'shouldStop: () => context.isCancelled()',
        replacement: 'shouldStop: () => globalThis.eatAll() || context.isCancelled()',
      },
    ],
  },
  /** the device goes away under whatever it is doing */
  lostDevice: {
    name: 'lost-device',
    edits: [
      onSignal("this.thread.postMessage({ kind: 'lose' })"),
      {
        file: WORKER,
        search: "port.on('message', (message) => void (message.kind === 'end' ?",
        replacement:
          "port.on('message', (message) => void (message.kind === 'lose' ? globalThis.loseDevice?.() : message.kind === 'end' ?",
      },
      {
        file: 'gpu/device/live-device.js',
        search: "memory.device.addEventListener('uncapturederror'",
        replacement:
          "globalThis.loseDevice = () => memory.device.destroy();\n        memory.device.addEventListener('uncapturederror'",
      },
    ],
  },
} as const satisfies Readonly<Record<string, Plant>>;
