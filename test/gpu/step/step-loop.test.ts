import t from 'tap';
import type { OpenedAdapter } from '../../../gpu/device/adapter.js';
import { createGpuEngine } from '../../../gpu/engine.js';
import { stackSwap } from '../../solver/cases.js';
import { needAdapter, openSpecialEngine } from '../../support/gpu.js';
import { refusalOf } from '../../support/job.js';
import { openCase } from '../../support/open-case.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { open, options } = await needAdapter();

/** Step limits of requests that meet a planted fault, and of one that meets none. */
const [NEVER_ENDS, NEVER_STEPS, IS_SOUND] = [3, 4, 5];

const isOneOf = (...limits: number[]): string =>
  limits.map((limit) => `parameters.stepLimit == ${limit}u`).join(' || ');

/** Faults of the decision at the end of a step: what a line says, and what it says instead. */
const FAULTS: readonly (readonly [string, string])[] = [
  [
    'let ended = select(select(limited, STALLED, isStalled), CONVERGED, isDone || hasArrived);',
    `let ended = select(select(select(limited, STALLED, isStalled), CONVERGED, isDone), RUNNING, ${isOneOf(NEVER_ENDS, NEVER_STEPS)});`,
  ],
  ['let steps = control.steps + one;', `let steps = control.steps + select(one, 0u, ${isOneOf(NEVER_STEPS)});`],
];

/** The device of an adapter, whose kernels get the faults. */
const withFaults = (opened: OpenedAdapter, onPlanted: () => void): OpenedAdapter => ({
  ...opened,
  requestDevice: async () => {
    const { device, lost } = await opened.requestDevice();
    const create = device.createShaderModule.bind(device);
    device.createShaderModule = ({ code, ...rest }) => {
      let faulty = code;
      for (const [line, fault] of FAULTS) {
        if (faulty.includes(line)) onPlanted();
        faulty = faulty.replace(line, fault);
      }
      return create({ ...rest, code: faulty });
    };
    return { device, lost };
  },
});

for (const runsAhead of [false, true]) {
  const way = runsAhead ? 'ahead' : 'step by step';
  t.test(`a run that neither ends nor makes a step is an error, and not endless: ${way}`, options, async (t) => {
    let planted = 0;
    const opened = withFaults(await open(), () => planted++);
    const { engine } = await createGpuEngine({ allowSoftware: true, runsAhead, open: async () => ({ opened }) });
    if (!engine) throw new Error('the adapter opened once but not twice');
    t.teardown(() => engine.close());
    t.equal(planted, FAULTS.length);
    const { mesh, start, target } = stackSwap(6).build();
    const openWith = (stepLimit: number) => openCase(engine, mesh, start, target, { stepLimit });
    const sound = await openWith(IS_SOUND);
    for (const stepLimit of [NEVER_ENDS, NEVER_STEPS]) {
      const { scene, resolve, units, x, y } = await openWith(stepLimit);
      const { code, message } = await refusalOf(resolve());
      t.equal(code, 'INTERNAL');
      t.match(message, /neither ends nor makes another step: state 0, phase 0, after \d steps/);
      scene.configure(sound.parameters, units);
      t.match(await scene.resolve({ x, y }), { status: 'STEP_LIMIT', steps: IS_SOUND }, 'the scene stays usable');
      scene.close();
    }
    sound.scene.close();
  });
}

t.test('a listener that throws while steps are in flight costs no memory', options, async (t) => {
  const engine = await openSpecialEngine(t, { runsAhead: true });
  const { mesh, start, target } = stackSwap(8).build();
  const { scene, resolve } = await openCase(engine, mesh, start, target);
  const interrupt = async (after: number): Promise<void> => {
    let left = after;
    const onProgress = () => {
      if (left-- === 0) throw new Error('the listener fails');
    };
    await t.rejects(resolve({ onProgress }), /the listener fails/);
  };
  // Until it has as many staging buffers as a run may use, and knows how far ahead a run may go.
  for (let n = 0; n < 6; n++) await resolve();
  const before = scene.bytes;
  for (let after = 0; after < 6; after++) {
    await interrupt(after);
    t.match(await resolve(), { status: 'CONVERGED' }, 'the scene stays usable');
  }
  t.equal(scene.bytes, before);
  scene.close();
});
