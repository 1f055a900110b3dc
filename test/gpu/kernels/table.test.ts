import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { type EntryPoint, KERNELS, type KernelRow, kernelFilesOf, STAGES } from '../../../gpu/kernels/table.js';
import { projectRoot } from '../../../src/paths.js';

const folder = join(projectRoot, 'gpu', 'kernels');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.wgsl'))
  .map((name) => name.replaceAll('\\', '/').replace(/\.wgsl$/, ''));
const rows = Object.entries(KERNELS) as [EntryPoint, KernelRow][];

t.test('the table lists exactly the entry points of all files', async (t) => {
  const inFiles: string[] = [];
  for (const file of files) {
    const text = readFileSync(join(folder, `${file}.wgsl`), 'utf8');
    for (const [, entry] of text.matchAll(/@compute\s+@workgroup_size\([^)]*\)\s*fn\s+(\w+)/g)) {
      inFiles.push(`${file}: ${entry}`);
    }
  }
  t.strictSame(rows.map(([entry, { file }]) => `${file}: ${entry}`).sort(), inFiles.sort());
});

t.test('every file lies in the folder of its stage', async (t) => {
  const folders = new Set(files.map((file) => posix.dirname(file)));
  t.strictSame([...folders].sort(), [...STAGES, 'common'].filter((name) => folders.has(name)).sort());
  const listed = [...kernelFilesOf(...STAGES).values()].flat();
  t.strictSame([...listed].sort(), Object.keys(KERNELS).sort());
});

/** Names of functions, and of methods as `Class.method`, in a module under src/solver. */
function functionsOf(module: string): Set<string> {
  const path = join(projectRoot, 'src', 'solver', `${module}.ts`);
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name) names.add(statement.name.text);
    if (!ts.isClassDeclaration(statement)) continue;
    for (const member of statement.members) {
      if (ts.isMethodDeclaration(member)) names.add(`${statement.name?.text}.${member.name.getText(source)}`);
    }
  }
  return names;
}

t.test('every CPU function that a kernel mirrors exists', async (t) => {
  for (const [entry, { mirrors }] of rows) {
    if (mirrors === undefined) continue;
    const [module, name] = mirrors.split(' ');
    t.ok(functionsOf(module!).has(name!), `${entry} mirrors ${mirrors}`);
  }
});

/**
 * What the comments of a file say that it mirrors: "Mirrors NAME, NAME and NAME (src/solver/FILE.ts, FILE.ts)", where a
 * file without a folder is in that of the one before.
 */
function mirroredIn(
  file: string,
): readonly { readonly names: readonly string[]; readonly modules: readonly string[] }[] {
  const text = readFileSync(join(folder, `${file}.wgsl`), 'utf8').replace(/\n\/\/ ?/g, ' ');
  return [...text.matchAll(/\bmirrors ([^()]+)\((src\/solver\/[^()]+)\)/gi)].map(([, told, paths]) => {
    let place = '';
    const modules = [...paths!.matchAll(/([\w/-]+)\.ts/g)].map(([, path]) => {
      if (path!.startsWith('src/')) place = posix.dirname(posix.relative('src/solver', path!));
      return posix.join(place, posix.basename(path!));
    });
    // Functions, which have a capital letter, and methods; the other words are English.
    return { names: told!.match(/\w+\.#?\w+|#\w+|\b[a-z]+[A-Z]\w*/g) ?? [], modules };
  });
}

t.test('every CPU function that the comments of a kernel name exists', async (t) => {
  let count = 0;
  for (const file of files) {
    for (const { names, modules } of mirroredIn(file)) {
      const known = [...new Set(modules.flatMap((module) => [...functionsOf(module)]))];
      for (const name of names) {
        count++;
        // A method is named without its class where that was named before.
        const isThere = known.some((one) => one === name || one.endsWith(`.${name}`));
        t.ok(isThere, `${file} mirrors ${name} of ${modules.join(', ')}`);
      }
    }
  }
  t.ok(count > 50, `${count} names`);
});
