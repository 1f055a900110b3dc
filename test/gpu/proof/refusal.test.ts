import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { CONVOY_MUTANTS } from '../../../bench/prove/mutants/convoy-mutants.js';
import type { Fault } from '../../../bench/prove/mutants/fault.js';
import { plant, removePlant } from '../../../bench/prove/mutants/planting.js';
import { openTestDevice } from '../../support/gpu.js';
import { shareOf } from '../../support/share.js';

/** Faults in the kernels of the product, in a copy of the build: the engine itself must refuse its adapter. */

t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
gpu?.close();

const FAULTS: readonly { readonly name: string; readonly faults: readonly Fault[]; readonly reason: RegExp }[] = [
  {
    name: 'heights-count-as-exact',
    faults: [{ file: 'gpu/kernels/common/heights.wgsl', function: 'errorOf', body: 'return 0.0;' }],
    reason: /certified gaps .*the error bound is 0/,
  },
  {
    name: 'lists-lose-pairs',
    // The second file takes the place of the first on graphics cards.
    faults: [
      { file: 'gpu/kernels/common/append.wgsl', function: 'reserve', body: 'return 0u;' },
      { file: 'gpu/kernels/common/append-subgroups.wgsl', function: 'reserve', body: 'return 0u;' },
    ],
    reason: /certified gaps .*lists: 0 pairs were counted/,
  },
  {
    name: 'check-says-yes',
    faults: [{ file: 'gpu/kernels/forward/check.wgsl', function: 'holds', body: 'return true;' }],
    reason: /certified gaps .*broke its half-space/,
  },
];

/** What a program prints that opens the engine of a build. @param options of the engine @param tell what it prints of `engine` and `reason` */
async function told(build: string, options: string, tell: string): Promise<string> {
  const engine = pathToFileURL(join(build, 'gpu', 'engine.js')).href;
  const program = `
    const { createGpuEngine } = await import('${engine}');
    process.on('warning', ({ message }) => process.stdout.write(message));
    const { engine, reason } = await createGpuEngine({ allowSoftware: true, ${options} });
    setImmediate(() => process.stdout.write(${tell}, () => process.exit(0)));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [words] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return words;
}

/** The reason for which the engine of this build does not open; empty when it opens. */
const refusalOf = (build: string): Promise<string> => told(build, '', "reason ?? ''");

for (const { name, faults, reason } of shareOf(FAULTS, 3)) {
  t.test(`the engine refuses an adapter: ${name}`, options, async (t) => {
    const build = await plant({ name: `refusal-${name}`, faults });
    t.teardown(() => removePlant(build));
    t.match(await refusalOf(build), reason);
  });
}

// What only whole runs show; faults of addresses: commit-proof.test.ts.
for (const { name, faults } of CONVOY_MUTANTS.filter(({ name }) => name === 'convoy-order-by-place')) {
  t.test(`scenes of an engine do not submit together: ${name}`, options, async (t) => {
    const build = await plant({ name: `refusal-${name}`, faults });
    t.teardown(() => removePlant(build));
    const words = await told(build, 'convoy: { scenes: 4, delay: 1 }', "'; together: ' + engine?.together?.jobs");
    t.match(words, /Every scene submits alone: .*whole runs: scene \d of 3 .*; together: undefined/);
  });
}
