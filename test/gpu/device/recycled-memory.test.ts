import t from 'tap';
import { openAdapter } from '../../../gpu/device/adapter.js';
import { BUFFER_USAGE } from '../../../gpu/device/flags.js';
import type { MemoryWatch } from '../../../gpu/device/memory.js';
import type { Resolution } from '../../../src/solver/engine.js';
import { openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';
import {
  findSecret,
  makePlainCloth,
  makeSecretCloth,
  memoryOf,
  SECRET_WORD,
  type SecretCloth,
} from '../../support/secret.js';

// A software driver compiles every kernel when an engine opens, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

/** Scenes with the secret before each examined scene: enough for the driver to reuse their memory. */
const SECRETS = 3;

/** Fills freed buffers with the secret, and records what new buffers hold before anything is written to them. */
class SecretWatch implements MemoryWatch {
  readonly usage = BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST;
  /** the planted fault: new memory keeps its old content */
  isDirty = false;
  freed = 0;
  private copies: { readonly label: string; readonly copy: GPUBuffer }[] | undefined;

  readonly afterAllocate = (buffer: GPUBuffer, device: GPUDevice): void => {
    const isForMapping = (buffer.usage & BUFFER_USAGE.MAP_READ) !== 0;
    if (this.isDirty) fill(buffer, device);
    if (!this.copies || isForMapping) return;
    const copy = device.createBuffer({ size: buffer.size, usage: BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
    device.queue.submit([encoder.finish()]);
    this.copies.push({ label: buffer.label, copy });
  };

  readonly beforeFree = (buffer: GPUBuffer, device: GPUDevice): void => {
    fill(buffer, device);
    device.queue.submit([]);
    this.freed++;
  };

  /** Records the initial content of new buffers from now on. */
  listen(): void {
    this.copies = [];
  }

  /** @returns labels of the new buffers, and of those in which the secret was found */
  async search(): Promise<{ readonly all: string[]; readonly found: string[] }> {
    const [all, found]: [string[], string[]] = [[], []];
    for (const { label, copy } of this.copies ?? []) {
      await copy.mapAsync(1);
      all.push(label);
      if (findSecret(new Uint8Array(copy.getMappedRange())) >= 0) found.push(label);
      copy.destroy();
    }
    this.copies = undefined;
    return { all, found };
  }
}

function fill(buffer: GPUBuffer, device: GPUDevice): void {
  if (buffer.mapState !== 'unmapped') return;
  device.queue.writeBuffer(buffer, 0, new Uint32Array(buffer.size / 4).fill(SECRET_WORD));
}

const watch = new SecretWatch();
// As in production, where the binding does not check calls: it must clear memory all the same.
const { engine, options } = await openTestEngine(undefined, {
  open: openAdapter,
  watch,
  skipValidation: true,
  firstPairs: 64,
});
t.teardown(() => engine?.close());

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  const open = ({ mesh, start, target }: SecretCloth) =>
    openCase(engine, mesh, Float64Array.from(start), Float64Array.from(target), { stepLimit: 20 });
  const resolveOf = async (cloth: SecretCloth): Promise<Resolution> => {
    const { scene, resolve } = await open(cloth);
    try {
      return await resolve();
    } finally {
      scene.close();
    }
  };
  const spoil = async (): Promise<Resolution> => {
    let last: Resolution | undefined;
    for (let n = 0; n < SECRETS; n++) last = await resolveOf(makeSecretCloth());
    return last!;
  };

  t.test('The secret is visible in its own answer.', async (t) => {
    const { positions } = await spoil();
    t.ok(findSecret(new Uint8Array(positions.buffer)) >= 0);
    t.ok(watch.freed > 10, `${watch.freed} buffers were freed, filled with it`);
  });

  t.test('Memory that held the secret does not show it to the next scene.', async (t) => {
    await spoil();
    watch.listen();
    const clean = await resolveOf(makePlainCloth());
    const { all, found } = await watch.search();
    t.ok(
      all.includes('x') && all.includes('candidates') && all.length > 20,
      `${all.length} new buffers were read back`,
    );
    t.same(found, []);
    const memory = memoryOf(clean);
    t.ok(memory.length >= 2, 'positions and residuals');
    t.same(
      memory.map((bytes) => findSecret(bytes)).filter((at) => at >= 0),
      [],
      'nor do its answers',
    );
    t.ok(clean.pairs.activeContacts > 0, 'and they had contacts to tell of');
  });

  // Nothing is computed in such memory: kernels rely on the zeros that the standard promises, and might not terminate.
  t.test('Planted fault: memory that keeps its content is detected in every buffer.', async (t) => {
    watch.isDirty = true;
    watch.listen();
    const { scene } = await open(makePlainCloth());
    watch.isDirty = false;
    const { all, found } = await watch.search();
    scene.close();
    t.ok(all.length > 10);
    t.same(found, all);
  });
}
