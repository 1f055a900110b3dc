import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertWritable, writeAtomically } from '../../src/cli/outputs.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

t.test('a new file in an existing folder may be written', async (t) => {
  const folder = t.testdir({ 'in.obj': 'x' });
  await assertWritable(join(folder, 'out.obj'), [join(folder, 'in.obj')]);
  await assertWritable(join(folder, 'out.obj'), [join(folder, 'missing.obj')]);
});

t.test('an input is never overwritten, under any name', async (t) => {
  const folder = t.testdir({ 'in.obj': 'x', 'other.obj': 'y' });
  const input = join(folder, 'in.obj');
  symlinkSync(input, join(folder, 'soft.obj'));
  linkSync(input, join(folder, 'hard.obj'));
  for (const name of ['in.obj', 'soft.obj', 'hard.obj', `../${folder.split('/').at(-1)}/in.obj`]) {
    await t.rejects(assertWritable(join(folder, name), [join(folder, 'other.obj'), input]), {
      name: 'UsageError',
      message: /would overwrite/,
    });
  }
  await assertWritable(join(folder, 'other.obj'), [input]);
});

t.test('a glTF file that a morph target is read from is an input', async (t) => {
  const file = join(t.testdir({ 'shirt.glb': 'x' }), 'shirt.glb');
  await t.rejects(assertWritable(file, [`${file}#Smile`]), { name: 'UsageError', message: /would overwrite/ });
});

t.test('what a glTF file refers to belongs to the input', async (t) => {
  const gltf = JSON.stringify({
    buffers: [{ uri: 'shirt%20a.bin' }, { uri: 'data:,' }],
    images: [{ uri: 'other.png/x' }, { uri: '%00' }, { uri: 'shirt.png' }, { bufferView: 0 }],
  });
  const folder = t.testdir({
    'shirt.gltf': gltf,
    'shirt a.bin': 'x',
    'shirt.png': 'x',
    'other.png': 'x',
    'bad.gltf': '{',
  });
  const path = (name: string) => join(folder, name);
  for (const name of ['shirt a.bin', 'shirt.png'])
    for (const input of ['shirt.gltf', 'shirt.gltf#Smile'])
      await t.rejects(assertWritable(path(name), [path(input)]), {
        name: 'UsageError',
        message: /would overwrite .*, which belongs to the input /,
      });
  await assertWritable(path('other.png'), [path('shirt.gltf'), path('bad.gltf')]);
});

t.test('a missing folder and a path that is no file are refused', async (t) => {
  const folder = t.testdir({ 'dir.obj': {} });
  await t.rejects(assertWritable(join(folder, 'no', 'out.obj'), []), { message: /folder .* does not exist/ });
  await t.rejects(assertWritable(join(folder, 'dir.obj'), []), { message: /not a regular file/ });
});

t.test('a path that cannot be written is refused as a mistake, before the work and after it', async (t) => {
  const folder = t.testdir({ 'file.obj': 'x' });
  const cases: [path: string, message: RegExp][] = [
    [join('file.obj', 'x.obj'), /^Cannot write .*: .*file\.obj is not a folder\.$/],
    [join('file.obj', 'deeper', 'x.obj'), /a part of the path is not a folder\.$/],
    [`${'n'.repeat(300)}.obj`, /the name is too long\.$/],
    // The temporary file beside it has a longer name.
    [`${'n'.repeat(250)}.obj`, /the name is too long\.$/],
  ];
  for (const [name, message] of cases) {
    const path = join(folder, name);
    await t.rejects(assertWritable(path, []), { name: 'UsageError', message }, name.slice(0, 20));
    await t.rejects(writeAtomically(path, [bytes('new')]), { name: 'UsageError', message: /^Cannot write / });
  }
  await t.rejects(writeAtomically(join(folder, 'no', 'x.obj'), []), { name: 'UsageError', message: /does not exist/ });
  t.strictSame(readdirSync(folder), ['file.obj']);
});

const isRoot = process.getuid?.() === 0;
const user = { skip: isRoot ? 'root may write everywhere' : process.getuid === undefined && 'there are no users' };

t.test('a folder without permission to write is refused before the work', user, async (t) => {
  const folder = t.testdir({ closed: { 'out.obj': 'old' } });
  const closed = join(folder, 'closed');
  symlinkSync(join(closed, 'out.obj'), join(folder, 'link.obj'));
  chmodSync(closed, 0o500);
  t.teardown(() => chmodSync(closed, 0o700));
  for (const path of [join(closed, 'new.obj'), join(closed, 'out.obj'), join(folder, 'link.obj')])
    await t.rejects(assertWritable(path, []), { name: 'UsageError', message: /no permission to write there/ });
});

t.test('a permission that is missing at the end is a mistake too', { skip: !isRoot && 'only root' }, async (t) => {
  const folder = t.testdir({ closed: {} });
  chmodSync(join(folder, 'closed'), 0o555);
  process.seteuid!(65534);
  try {
    const written = writeAtomically(join(folder, 'closed', 'x.obj'), [bytes('new')]);
    await t.rejects(written, { name: 'UsageError', message: /no permission to write there/ });
  } finally {
    process.seteuid!(0);
  }
});

t.test('what is written replaces the old file as a whole and leaves nothing beside it', async (t) => {
  const folder = t.testdir({ 'out.obj': 'old and longer' });
  await writeAtomically(join(folder, 'out.obj'), [bytes('new '), bytes('text')]);
  t.equal(readFileSync(join(folder, 'out.obj'), 'utf8'), 'new text');
  t.strictSame(readdirSync(folder), ['out.obj']);
});

t.test('a failure half-way keeps the old file', async (t) => {
  const folder = t.testdir({ 'out.obj': 'old' });
  function* failing(): Generator<Uint8Array> {
    yield bytes('new');
    throw new Error('disk full');
  }
  await t.rejects(writeAtomically(join(folder, 'out.obj'), failing()), { message: 'disk full' });
  t.equal(readFileSync(join(folder, 'out.obj'), 'utf8'), 'old');
  t.strictSame(readdirSync(folder), ['out.obj']);
});

t.test('a link stays a link, and permissions stay what they were', async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'real'));
  writeFileSync(join(folder, 'real', 'out.obj'), 'old', { mode: 0o600 });
  symlinkSync(join(folder, 'real', 'out.obj'), join(folder, 'out.obj'));
  await writeAtomically(join(folder, 'out.obj'), [bytes('new')]);
  t.ok(lstatSync(join(folder, 'out.obj')).isSymbolicLink());
  t.equal(readFileSync(join(folder, 'real', 'out.obj'), 'utf8'), 'new');
  t.equal(statSync(join(folder, 'real', 'out.obj')).mode & 0o777, 0o600);
});

t.test('a link to a file that does not exist yet stays a link', async (t) => {
  const folder = t.testdir({ real: {}, links: {} });
  symlinkSync(join('..', 'real', 'second.obj'), join(folder, 'links', 'first.obj'));
  symlinkSync('out.obj', join(folder, 'real', 'second.obj'));
  const path = join(folder, 'links', 'first.obj');
  await assertWritable(path, []);
  await writeAtomically(path, [bytes('new')]);
  t.equal(readFileSync(join(folder, 'real', 'out.obj'), 'utf8'), 'new');
  for (const link of [path, join(folder, 'real', 'second.obj')]) t.ok(lstatSync(link).isSymbolicLink(), link);

  const lost = join(folder, 'lost.obj');
  symlinkSync(join('no', 'x.obj'), lost);
  const refusal = { name: 'UsageError', message: /^Cannot write .*lost\.obj: a folder of the path does not exist\.$/ };
  await t.rejects(assertWritable(lost, []), refusal);
  await t.rejects(writeAtomically(lost, [bytes('new')]), refusal);
  t.ok(lstatSync(lost).isSymbolicLink());
});
