import { type AdapterOpening, type AdapterOptions, openAdapter } from '../../gpu/device/adapter.js';
import { BUFFER_USAGE } from '../../gpu/device/flags.js';

/** Usages that do not go together: a buffer that is asked for with them does not exist. */
const MAP_AND_STORAGE = BUFFER_USAGE.MAP_READ | BUFFER_USAGE.STORAGE;

/** More bytes than any device has. */
const BEYOND_ALL_MEMORY = 2 ** 53 - 16;

type ErrorListener = (event: GPUUncapturedErrorEvent) => void;

/**
 * Devices without memory for the buffers that a test names. The first shortage of a device that skips validation is the
 * driver's own. From then on the binding checks that device's calls whatever it was told (shortage.test.ts), so the
 * later ones are played: the buffer is refused for another reason, and a shortage is reported where that of the driver
 * would be.
 */
export class ShortMemory {
  /** how often a buffer of each label was asked for since the last `clear` */
  readonly asked = new Map<string, number>();
  /** @param nth how many of that label were asked for before */
  isRefused: (label: string, nth: number) => boolean = () => false;

  clear(): void {
    this.asked.clear();
    this.isRefused = () => false;
  }

  /** As openAdapter. */
  readonly open = async (options: AdapterOptions): Promise<AdapterOpening> => {
    const { opened, reason } = await openAdapter(options);
    if (!opened) return { reason };
    const requestDevice = async () => {
      const { device, lost } = await opened.requestDevice();
      return { device: this.#shorten(device, options.skipValidation === true), lost };
    };
    return { opened: { ...opened, requestDevice } };
  };

  #shorten(device: GPUDevice, skipsValidation: boolean): GPUDevice {
    let isChecked = !skipsValidation;
    const listeners: ErrorListener[] = [];
    /** open error scopes, the innermost last; in those that catch shortages, what was played in them */
    const scopes: { readonly filter: GPUErrorFilter; played: GPUError | null }[] = [];
    const playShortage = (label: string): void => {
      class GPUOutOfMemoryError extends Error {}
      const error = new GPUOutOfMemoryError(`There is no memory for ${label}.`) as unknown as GPUError;
      const scope = scopes.findLast(({ filter }) => filter === 'out-of-memory');
      if (scope) scope.played ??= error;
      else for (const tell of listeners) tell({ error, preventDefault: () => undefined } as GPUUncapturedErrorEvent);
    };
    const own: Partial<GPUDevice> = {
      createBuffer: (descriptor) => {
        const label = descriptor.label ?? '';
        const nth = this.asked.get(label) ?? 0;
        this.asked.set(label, nth + 1);
        if (!this.isRefused(label, nth)) return device.createBuffer(descriptor);
        // The buffer that is given out has the size that was asked for, as one of the driver's refusals has.
        if (isChecked) playShortage(label);
        else device.createBuffer({ ...descriptor, size: BEYOND_ALL_MEMORY });
        isChecked = true;
        device.pushErrorScope('validation');
        const buffer = device.createBuffer({ ...descriptor, usage: MAP_AND_STORAGE });
        void device.popErrorScope();
        return buffer;
      },
      pushErrorScope: (filter) => {
        scopes.push({ filter, played: null });
        return device.pushErrorScope(filter);
      },
      popErrorScope: async () => {
        const played = scopes.pop()?.played ?? null;
        return (await device.popErrorScope()) ?? played;
      },
      addEventListener: (type: string, listener: unknown) => {
        listeners.push(listener as ErrorListener);
        device.addEventListener(type as 'uncapturederror', listener as ErrorListener);
      },
    };
    return new Proxy(device, {
      get(target, key) {
        if (key in own) return Reflect.get(own, key);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}
