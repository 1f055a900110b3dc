import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Struct } from '../../../gpu/device/struct.js';
import { CONSTANTS, declareFloat, declareUnsigned } from '../../../gpu/kernels/constants.js';
import { CANDIDATE, CONTROL, STRUCTS } from '../../../gpu/kernels/structs.js';
import { kernelFilesOf, STAGES } from '../../../gpu/kernels/table.js';
import { assembleKernel, loadKernel } from '../../../gpu/shaders.js';
import { projectRoot } from '../../../src/paths.js';
import * as shared from '../../../src/solver/constants.js';

const folder = join(projectRoot, 'gpu', 'kernels');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.wgsl'));
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');

t.test('no WGSL file declares a constant or a struct that TypeScript defines', async (t) => {
  const known = new Set([...CONSTANTS.keys(), ...Object.keys(shared)]);
  for (const file of files) {
    for (const [, name] of textOf(file).matchAll(/^\s*(?:const|override)\s+(\w+)/gm)) {
      t.notOk(known.has(name!), `${file} declares ${name}`);
    }
    for (const [, name] of textOf(file).matchAll(/^\s*struct\s+(\w+)/gm)) {
      t.notOk(STRUCTS.has(name!.replace(/View$/, '')), `${file} declares the struct ${name}`);
    }
  }
});

t.test('every constant and every struct reaches a kernel', async (t) => {
  const all = [...kernelFilesOf(...STAGES).keys()].map((file) => loadKernel(file)).join('\n');
  for (const [name, declaration] of CONSTANTS) t.ok(all.includes(`${declaration}\n`), `${name} is used`);
  for (const name of STRUCTS.keys()) t.match(all, `struct ${name} {`);
});

t.test('only a device with subgroups has kernels that count by subgroups', async (t) => {
  const files = [...kernelFilesOf(...STAGES).keys()].filter((file) =>
    /common\/append\.wgsl"/.test(textOf(`${file}.wgsl`)),
  );
  t.ok(files.length > 3);
  for (const file of files) {
    t.notMatch(loadKernel(file), 'subgroupElect', file);
    t.match(loadKernel(file, true), /^enable subgroups;\n/, file);
    t.notMatch(loadKernel(file, true), 'for devices without subgroups', file);
  }
});

t.test('changing a constant in TypeScript changes it in the kernel', async (t) => {
  for (const file of kernelFilesOf(...STAGES).keys()) {
    for (const [name, declaration] of CONSTANTS) {
      if (!loadKernel(file).includes(`${declaration}\n`)) continue;
      const planted = new Map(CONSTANTS).set(name, declareUnsigned(name, 77));
      t.equal(
        assembleKernel(file, undefined, planted),
        loadKernel(file).replace(declaration, declareUnsigned(name, 77)),
        `${file}: ${name}`,
      );
    }
  }
});

t.test('a declaration preserves the exact number', async (t) => {
  t.equal(declareUnsigned('A', 0xffffffff), 'const A: u32 = 4294967295u;');
  for (const value of [-1, 0.5, 2 ** 32]) t.throws(() => declareUnsigned('A', value), /not an u32/);
  for (const value of [2, 0.1, 0.999, 1.1, 2 ** -20, 1e-30, 3.4028234663852886e38, 65536]) {
    const literal = /= ([^;]*);/.exec(declareFloat('A', value))?.[1];
    t.match(literal, /[.e]/, 'a float literal');
    t.equal(Number(literal), Math.fround(value));
  }
  t.throws(() => declareFloat('A', 1e39), /not an f32/);
});

t.test('a struct writes and reads what its WGSL declares', async (t) => {
  const struct = new Struct('Sample', {
    first: ['u32', 'An u32.'],
    second: ['atomic<u32>', 'An atomic.'],
    third: ['f32', 'An f32.'],
    wide: ['vec4f', 'A vector, aligned.'],
    last: ['f32', ''],
  });
  t.equal(struct.bytes, 48);
  t.strictSame([struct.word('third'), struct.word('wide'), struct.word('last')], [2, 4, 8]);
  const packed = struct.pack({ first: 7, third: 0.1, last: -2 });
  t.strictSame(struct.unpack(packed), { first: 7, second: 0, third: Math.fround(0.1), last: -2 });
  t.match(struct.declare(), /struct Sample \{\n {2}first: u32, .*\n {2}second: atomic<u32>, [\s\S]*wide: vec4f, /);
  t.match(struct.declare(true), /struct SampleView \{[\s\S]*second: u32, /);
  // @ts-expect-error The compiler knows the fields; plain JavaScript is told.
  t.throws(() => struct.pack({ none: 1 }), /no field none/);
  t.equal(CONTROL.word('state'), 0);
  t.equal(CANDIDATE.bytes, 64);
});
