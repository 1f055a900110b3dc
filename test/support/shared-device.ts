import type { Test } from 'tap';
import { type AdapterOpening, type AdapterOptions, type OpenedDevice, openAdapter } from '../../gpu/device/adapter.js';

/** One device of this process, and the engines that use it. */
interface Shared {
  readonly opening: Promise<AdapterOpening>;
  device: Promise<OpenedDevice> | undefined;
  users: number;
  /** it closes when the process ends */
  isKept: boolean;
}

/** What a process that runs several files does at its end (deploy/test-together.mjs); undefined = there is one file. */
const lastly = (globalThis as { [key: symbol]: (() => unknown)[] | undefined })[Symbol.for('interstice.tests.lastly')];

const byOptions = new Map<string, Shared>();

/** All of them change what a device is. */
const keyOf = ({ name, allowSoftware, subgroups, workgroupThreads, skipValidation }: AdapterOptions): string =>
  JSON.stringify([name, allowSoftware, subgroups, workgroupThreads, skipValidation]);

/**
 * As openAdapter, for engines that leave their device whole: those that ask for the same device get one, so that its
 * kernels, which take a software driver seconds, are compiled once a process. Each engine still warms them up and lets
 * the device prove its arithmetic. A test that loses or breaks its device opens with openAdapter.
 */
export async function openSharedAdapter(options: AdapterOptions): Promise<AdapterOpening> {
  const key = keyOf(options);
  const shared = byOptions.get(key) ?? { opening: openAdapter(options), device: undefined, users: 0, isKept: false };
  byOptions.set(key, shared);
  shared.users++;
  const { opened, reason } = await shared.opening;
  if (!opened) return { reason };
  let tellClosed = (_: GPUDeviceLostInfo): void => undefined;
  const closed = new Promise<GPUDeviceLostInfo>((resolve) => {
    tellClosed = resolve;
  });
  let hasDevice = false;
  let isClosed = false;
  return {
    opened: {
      ...opened,
      requestDevice: async (wanted) => {
        if (isClosed) throw new Error('This adapter was closed; open it again.');
        // An engine whose device fails a proof with subgroups destroys it and goes on with one of its own.
        if (wanted?.subgroups === false) return opened.requestDevice(wanted);
        if (hasDevice) throw new Error('A test that loses its device opens its engine with openAdapter.');
        hasDevice = true;
        shared.device ??= opened.requestDevice();
        const { device, lost } = await shared.device;
        void lost.then(() => {
          shared.device = undefined;
        });
        return { device, lost: Promise.race([lost, closed]) };
      },
      close: async () => {
        if (isClosed) return;
        isClosed = true;
        tellClosed({ reason: 'destroyed', message: 'The engine was closed.' } as GPUDeviceLostInfo);
        shared.users--;
        if (shared.users > 0) return;
        if (lastly) {
          // The next file of the process uses it.
          if (!shared.isKept) lastly.push(() => opened.close());
          shared.isKept = true;
          return;
        }
        byOptions.delete(key);
        await opened.close();
      },
    },
  };
}

export interface SharedDevice {
  /** undefined = there is no adapter */
  readonly device: GPUDevice | undefined;
  /** options of the tests that need it */
  readonly needsAdapter: { readonly skip?: string };
}

/**
 * Opens the shared device of a file that runs kernels itself, closes it in a teardown, and adds a test that fails where
 * an adapter is required and there is none; without INTERSTICE_REQUIRE_GPU=1 the tests are skipped with the reason.
 */
export async function openSharedDevice(t: Test): Promise<SharedDevice> {
  const opening = await openSharedAdapter({ allowSoftware: true });
  const { opened, reason } = opening;
  const needsAdapter = opened || process.env.INTERSTICE_REQUIRE_GPU === '1' ? {} : { skip: reason };
  t.teardown(() => opened?.close());
  t.test('An adapter is found if one is required.', needsAdapter, async (t) => {
    t.ok(opened, reason ?? 'opened');
  });
  return { device: (await opened?.requestDevice())?.device, needsAdapter };
}
