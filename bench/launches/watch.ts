import { type AdapterOpening, type AdapterOptions, type OpenedAdapter, openAdapter } from '../../gpu/device/adapter.js';
import { BUFFER_USAGE, MAP_MODE } from '../../gpu/device/flags.js';
import { CONTROL } from '../../gpu/kernels/structs.js';
import type { EntryPoint } from '../../gpu/kernels/table.js';

/** A dispatch that was submitted. */
export interface Launch {
  readonly entry: EntryPoint;
  /** whether it had workgroups and, for one of one thread, a decision to make */
  readonly didWork: boolean;
  /** number of sweeps over contacts that this single workgroup made, 1 if it coloured them; 0 for other kernels */
  readonly passes: number;
  /** number of turns in each of them, one after the other */
  readonly turnsOfPass: number;
  /** µs on the device; undefined = it has no time stamps */
  readonly microseconds?: number | undefined;
}

/** Dispatches that one log holds. */
const MOST_LAUNCHES = 1 << 18;
/**
 * Words of a dispatch in the log: the size of an indirect one, or state and wantsSearch of the run before a direct one;
 * then, for a kernel that passes over contacts in one workgroup, sweepsDone before and after it and its turns.
 */
const LOG_WORDS = 6;

/** Kernels of one workgroup that sweep over contacts (gpu/kernels/backward/run-queue.wgsl: runTail). */
const SWEEPING: readonly EntryPoint[] = ['sweepTail', 'warmTail', 'sweepListed', 'sweepFew', 'sweepSmall'];

/** The word of the control block that counts the turns of a kernel of one workgroup; undefined = it takes none. */
function turnsWordOf(entry: EntryPoint): 'mostTurns' | 'mostOrderingTurns' | undefined {
  if (entry === 'colourTail') return 'mostOrderingTurns';
  return SWEEPING.includes(entry) ? 'mostTurns' : undefined;
}

/** Kernels of one thread that belong to every search, whether or not one is requested. */
const OF_SEARCH: readonly EntryPoint[] = ['planSearch', 'settleSearch', 'afterSearch'];
/** Directly dispatched kernels that have work in every state of the run. */
const ALWAYS: readonly EntryPoint[] = [
  ...(['edgeRows', 'begin', 'open', 'arm', 'countAndPack', 'openArrival', 'closeArrival'] as const),
  ...(['beginPull', 'beginEdges', 'openStrains', 'freeEdges', 'openPull', 'openShortening'] as const),
  ...(['restoreBest', 'conclude', 'closeRun', 'continueSweeps', 'endSweeps', 'packAnswer'] as const),
];

/** Time stamps of a query set: as many as the standard allows, two for each dispatch. */
const STAMPS = 4096;
const TIMED_LAUNCHES = STAMPS / 2;
const STAMP_BYTES = 8;

interface Logged {
  readonly entry: EntryPoint;
  readonly isIndirect: boolean;
}

/**
 * Counts the submissions of an engine, as a proxy between it and its device: every dispatch gets a pass of its own,
 * before which its size, or the state of the run, is copied to a log. The engine is not aware of it, and its answers do
 * not change. Only the turns that a scene reports (GpuScene.mostTurns) become those of its last dispatch that takes
 * turns.
 */
export class LaunchWatch {
  readonly #logged: Logged[] = [];
  #device: GPUDevice | undefined;
  #log: GPUBuffer | undefined;
  /**
   * The control block in the bindings of a dispatch. The most recently created one may belong to a proof, or to a
   * closed scene: a copy from a destroyed buffer, which a device that skips validation does not notice, crashes the
   * process.
   */
  readonly #controlOf = new WeakMap<GPUBindGroup, GPUBuffer>();
  readonly #controls = new WeakSet<GPUBuffer>();
  readonly #kernelOf = new WeakMap<GPUComputePipeline, EntryPoint>();

  readonly #isCard: boolean;
  #isCounting = false;
  /** the stamps of dispatches, in their order; none if the device has no time stamps */
  readonly #stamps: GPUQuerySet[] = [];

  /** @param isCard whether the device counts as a graphics card, whose workgroups have more threads */
  constructor(isCard = false) {
    this.#isCard = isCard;
  }

  /** Replaces openAdapter. */
  readonly open = async (options: AdapterOptions): Promise<AdapterOpening> => {
    const { opened, reason } = await openAdapter(options);
    return opened ? { opened: this.#watchAdapter(opened) } : { reason };
  };

  /** Usage that the scenes' buffers need besides their own. */
  get usage(): number {
    return BUFFER_USAGE.COPY_SRC;
  }

  /** Restarts the counts; submissions before the first call, such as the proofs of a device, are never counted. */
  clear(): void {
    this.#isCounting = true;
    this.#logged.length = 0;
  }

  /** Returns the submissions since clear(), in order. @throws Error if there were more than the log holds */
  async read(): Promise<Launch[]> {
    const count = this.#logged.length;
    if (count === 0 || !this.#device || !this.#log) return [];
    if (count > MOST_LAUNCHES) throw new Error(`${count} dispatches are more than the log holds.`);
    const bytes = 4 * LOG_WORDS * count;
    const staging = this.#device.createBuffer({ size: bytes, usage: BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST });
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#log, 0, staging, 0, bytes);
    this.#device.queue.submit([encoder.finish()]);
    await staging.mapAsync(MAP_MODE.READ);
    const words = new Uint32Array(staging.getMappedRange()).slice();
    staging.destroy();
    const times = await this.#readTimes(this.#device, count);
    return this.#logged.map(({ entry, isIndirect }, n) => {
      const [first, second, third, before, after, turns] = words.subarray(LOG_WORDS * n, LOG_WORDS * (n + 1));
      const didWork = isIndirect ? first * second * third > 0 : hadWork(entry, first, second);
      const hasTurns = didWork && turnsWordOf(entry) !== undefined;
      const passes = SWEEPING.includes(entry) ? after - before : 1;
      return {
        ...{ entry, didWork, passes: hasTurns ? passes : 0, turnsOfPass: hasTurns ? turns : 0 },
        microseconds: times?.[n],
      };
    });
  }

  /** Returns the microseconds of the first dispatches; undefined = the device has no time stamps. */
  async #readTimes(device: GPUDevice, count: number): Promise<Float64Array | undefined> {
    if (!device.features.has('timestamp-query')) return undefined;
    const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;
    const times = new Float64Array(count);
    const size = STAMP_BYTES * STAMPS;
    const resolved = device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC });
    const staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
    for (let begin = 0; begin < count; begin += TIMED_LAUNCHES) {
      const timed = Math.min(TIMED_LAUNCHES, count - begin);
      const encoder = device.createCommandEncoder();
      encoder.resolveQuerySet(this.#stamps[begin / TIMED_LAUNCHES]!, 0, 2 * timed, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(MAP_MODE.READ);
      const stamps = new BigUint64Array(staging.getMappedRange());
      // The standard allows a clock to be set back between two stamps: such a pair shows nothing.
      for (let n = 0; n < timed; n++)
        times[begin + n] = Math.max(0, Number(stamps[2 * n + 1]! - stamps[2 * n]!) / 1000);
      staging.unmap();
    }
    resolved.destroy();
    staging.destroy();
    return times;
  }

  /** Returns the description of the pass of a dispatch by its number. */
  #timedPass(device: GPUDevice, number: number): GPUComputePassDescriptor {
    if (!device.features.has('timestamp-query')) return {};
    const set = Math.floor(number / TIMED_LAUNCHES);
    const querySet = (this.#stamps[set] ??= device.createQuerySet({ type: 'timestamp', count: STAMPS }));
    const first = 2 * (number % TIMED_LAUNCHES);
    return { timestampWrites: { querySet, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 } };
  }

  #watchAdapter(opened: OpenedAdapter): OpenedAdapter {
    return {
      ...opened,
      requestDevice: async () => {
        const { device, lost } = await opened.requestDevice();
        this.#device = device;
        this.#log = device.createBuffer({
          label: 'launches',
          size: 4 * LOG_WORDS * MOST_LAUNCHES,
          usage: BUFFER_USAGE.COPY_DST | BUFFER_USAGE.COPY_SRC,
        });
        return { device: this.#watchDevice(device), lost };
      },
    };
  }

  #watchDevice(device: GPUDevice): GPUDevice {
    return standIn(device, {
      ...(this.#isCard && { adapterInfo: { ...device.adapterInfo, isFallbackAdapter: false } }),
      createBuffer: (descriptor: GPUBufferDescriptor) => {
        const buffer = device.createBuffer(descriptor);
        if (descriptor.label === 'control' && buffer.size >= CONTROL.bytes) this.#controls.add(buffer);
        return buffer;
      },
      createBindGroup: (descriptor: GPUBindGroupDescriptor) => {
        const group = device.createBindGroup(descriptor);
        for (const { resource } of descriptor.entries) {
          const buffer = 'buffer' in resource ? resource.buffer : undefined;
          if (buffer && this.#controls.has(buffer)) this.#controlOf.set(group, buffer);
        }
        return group;
      },
      createComputePipelineAsync: async (descriptor: GPUComputePipelineDescriptor) => {
        const pipeline = await device.createComputePipelineAsync(descriptor);
        this.#kernelOf.set(pipeline, descriptor.compute.entryPoint as EntryPoint);
        return pipeline;
      },
      createCommandEncoder: (descriptor?: GPUCommandEncoderDescriptor) =>
        this.#watchEncoder(device.createCommandEncoder(descriptor)),
    });
  }

  #watchEncoder(encoder: GPUCommandEncoder): GPUCommandEncoder {
    return standIn(encoder, { beginComputePass: () => this.#watchPass(encoder) });
  }

  /** Returns a pass whose dispatches run in passes of their own. */
  #watchPass(encoder: GPUCommandEncoder): GPUComputePassEncoder {
    let pipeline: GPUComputePipeline | undefined;
    let group: GPUBindGroup | undefined;
    const dispatch = (isIndirect: boolean, copy: (at: number) => void, run: (pass: GPUComputePassEncoder) => void) => {
      const entry = pipeline && this.#kernelOf.get(pipeline);
      if (!pipeline || !group || !entry) throw new Error('A dispatch has no kernel.');
      const at = 4 * LOG_WORDS * this.#logged.length;
      const isLogged = this.#isCounting && this.#logged.length < MOST_LAUNCHES;
      const turnsWord = isLogged ? turnsWordOf(entry) : undefined;
      if (isLogged && !isIndirect && !ALWAYS.includes(entry) && !this.#controlOf.has(group)) {
        throw new Error(`${entry} has no control block that would tell whether it had work.`);
      }
      if (isLogged) copy(at);
      if (turnsWord) {
        // Makes the maximum over the request that of this dispatch; no kernel reads it.
        clearWord(turnsWord);
        copyWord('sweepsDone', at + 12);
      }
      const timed = isLogged && this.#device ? this.#timedPass(this.#device, this.#logged.length) : {};
      if (this.#isCounting) this.#logged.push({ entry, isIndirect });
      const pass = encoder.beginComputePass(timed);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      run(pass);
      pass.end();
      if (turnsWord) {
        copyWord('sweepsDone', at + 16);
        copyWord(turnsWord, at + 20);
      }
    };
    const log = this.#log as GPUBuffer;
    const copyWord = (name: Parameters<typeof CONTROL.word>[0], at: number): void => {
      const control = group && this.#controlOf.get(group);
      if (control) encoder.copyBufferToBuffer(control, 4 * CONTROL.word(name), log, at, 4);
    };
    const clearWord = (name: Parameters<typeof CONTROL.word>[0]): void => {
      const control = group && this.#controlOf.get(group);
      if (control) encoder.clearBuffer(control, 4 * CONTROL.word(name), 4);
    };
    const copyState = (at: number): void => {
      copyWord('state', at);
      copyWord('wantsSearch', at + 4);
    };
    // Only the methods that the engine calls, because a pass without recording has no others.
    const pass: Pick<
      GPUComputePassEncoder,
      'setPipeline' | 'setBindGroup' | 'dispatchWorkgroups' | 'dispatchWorkgroupsIndirect' | 'end'
    > = {
      setPipeline: (next) => {
        pipeline = next;
        return undefined;
      },
      setBindGroup: (_: number, next: GPUBindGroup | null | undefined) => {
        group = next ?? undefined;
        return undefined;
      },
      dispatchWorkgroups: (x, y = 1, z = 1) => {
        dispatch(false, copyState, (own) => own.dispatchWorkgroups(x, y, z));
        return undefined;
      },
      dispatchWorkgroupsIndirect: (buffer, offset) => {
        const copySize = (at: number) => encoder.copyBufferToBuffer(buffer, offset, log, at, 12);
        dispatch(true, copySize, (own) => own.dispatchWorkgroupsIndirect(buffer, offset));
        return undefined;
      },
      end: () => undefined,
    };
    return pass as GPUComputePassEncoder;
  }
}

/** @param state of the run before it, 0 = running */
function hadWork(entry: EntryPoint, state: number, wantsSearch: number): boolean {
  if (ALWAYS.includes(entry)) return true;
  return state === 0 && (wantsSearch !== 0 || !OF_SEARCH.includes(entry));
}

/** The object with some methods replaced; the others run on the object itself, as the native binding requires. */
function standIn<T extends object>(object: T, own: Readonly<Record<string, unknown>>): T {
  return new Proxy(object, {
    get: (target, name) => {
      if (typeof name === 'string' && name in own) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}
