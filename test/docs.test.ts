import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import t from 'tap';
import { GPU_MUTANTS } from '../bench/prove/mutants/gpu-mutants.js';
import { MUTANTS } from '../bench/prove/mutants/mutants.js';
import type { CliContext } from '../src/cli/backend.js';
import { buildProgram } from '../src/cli/program.js';
import { algorithmVersion, projectRoot } from '../src/paths.js';

/**
 * Resolves every pointer of docs and comments: paths of the repository, names of source files, sections of docs (as in
 * "docs/method.md, S7"), relative links with their anchors, and the planted faults, result files and commands that the
 * docs name.
 */

const FOLDERS = ['src', 'gpu', 'bench', 'test', 'docs', 'checker', 'clients', 'deploy', 'examples', 'proto'];
const SKIPPED_FOLDERS = /^(\..*|node_modules|generated|build|results|pairs|__pycache__)$/;
/** its planted faults point nowhere on purpose */
const SELF = 'test/docs.test.ts';

function listFiles(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return SKIPPED_FOLDERS.test(entry.name) ? [] : listFiles(path);
  });
}

/** A path as comments write it: of a source, of its compiled form, or without the extension. NAME is a placeholder. */
function isThere(path: string): boolean {
  if (/(?:^|\/)[A-Z]+\.(?!md$)/.test(path)) return isThere(posix.dirname(path));
  return [path, path.replace(/\.js$/, '.ts'), `${path}.ts`].some((name) => existsSync(join(projectRoot, name)));
}

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const files = FOLDERS.flatMap(listFiles);
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'bench/results/README.md',
  ...files.filter((path) => path.endsWith('.md')),
];
const code = files.filter((path) => /\.(ts|mts|mjs|wgsl|py|cpp|hpp|proto|sh)$/.test(path) && path !== SELF);

/** every ending of a file's path that begins at a folder or at its name: "solver/frame.ts", "frame.ts" */
const endings = new Set(
  files.flatMap((path) => path.split('/').map((_, first, parts) => parts.slice(first).join('/'))),
);

/** The comments of a source file as running text, one entry a block. */
function commentsOf(path: string, text: string): string[] {
  const pattern = /\.(py|sh)$/.test(path)
    ? /(?:^[ \t]*#.*\n?)+/gm
    : /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|(?<=\s)\/\/.*/gm;
  return [...text.matchAll(pattern)].map(([block]) => block.replaceAll(/^[ \t]*(\/\*\*?|\*\/|\*|\/\/|#)/gm, ' '));
}

const joined = (text: string): string => text.replaceAll(/\s+/g, ' ');

interface Heading {
  readonly title: string;
  readonly anchor: string;
}

/** Titles as a reader sees them, anchors as GitHub makes them. */
function headingsOf(text: string): Heading[] {
  const outside = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...outside.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => ({
    title,
    anchor: title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  }));
}

/** Which words after "docs/NAME.md," name no section of that page; undefined when they name one. */
function objectionToSection(page: string, words: string): string | undefined {
  if (!existsSync(join(projectRoot, 'docs', page))) return `docs/${page} does not exist`;
  const titles = headingsOf(read(`docs/${page}`)).map(({ title }) => title.toLowerCase());
  const rules = /^S\d+(?:(?:, | and | to |–)S\d+)*/.exec(words)?.[0].match(/S\d+/g);
  const missing = rules?.filter((rule) => !titles.some((title) => title.startsWith(`${rule.toLowerCase()}. `)));
  if (missing) return missing.length > 0 ? `docs/${page} has no ${missing.join(', ')}` : undefined;
  const isNamed = titles.some((title) =>
    words
      .toLowerCase()
      .replace(/^(section )?["“]?/, '')
      .startsWith(title),
  );
  return isNamed ? undefined : `docs/${page} has no section "${words.slice(0, 40)}"`;
}

/** Pointers of running text that lead nowhere. */
function objectionsToText(text: string): string[] {
  const objections: string[] = [];
  const running = joined(text);
  for (const [path] of running.matchAll(
    /(?<![\w./@-])(?:src|gpu|bench|test|docs|clients|deploy|examples|proto)\/[\w./-]*\w/g,
  )) {
    if (!isThere(path)) objections.push(`${path} does not exist`);
  }
  for (const [path] of running.matchAll(/(?<![\w./*…-])[a-z][\w-]*(?:\/[\w.-]+)*\.(?:test\.)?(?:ts|wgsl|mjs)\b/g)) {
    if (!FOLDERS.some((folder) => path.startsWith(`${folder}/`)) && !endings.has(path)) {
      objections.push(`no file is called ${path}`);
    }
  }
  for (const [, page = '', words = ''] of running.matchAll(/docs\/([\w-]+\.md),\s+([^.;:)\]]+)/g)) {
    const objection = objectionToSection(page, words);
    if (objection) objections.push(objection);
  }
  for (const [bare] of running.matchAll(/(?:safety )?rules? \d+\b|\bmethod \d+\.\d+/gi)) {
    objections.push(`"${bare}" names no page: write docs/method.md, S7`);
  }
  return objections;
}

/** In code, a page is named by its path. */
function objectionsToComment(text: string): string[] {
  const bare = [...joined(text).matchAll(/(?<![\w/.-])[\w-]+\.md\b/g)].map(([name]) => name);
  return [
    ...objectionsToText(text),
    ...bare
      .filter((name) => !/^(README|CONTRIBUTING|CHANGELOG)\.md$/.test(name))
      .map((name) => `${name} has no folder: write docs/${name}`),
  ];
}

function objectionsToLinks(page: string, text: string): string[] {
  const links = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .flatMap((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : posix.join(dirname(page), path);
      if (!existsSync(join(projectRoot, target))) return [`${link} does not exist`];
      if (anchor === undefined) return [];
      return headingsOf(read(target)).some((heading) => heading.anchor === anchor)
        ? []
        : [`${link} has no such anchor`];
    });
}

const namedIn = (path: string) => (objection: string) => `${path}: ${objection}`;

t.test('what comments point to exists', async (t) => {
  t.ok(code.length > 500, 'the sources are found');
  const objections = code.flatMap((path) =>
    commentsOf(path, read(path)).flatMap(objectionsToComment).map(namedIn(path)),
  );
  t.equal(objections.join('\n'), '');
});

t.test('what docs point to exists', async (t) => {
  t.ok(pages.length > 10, 'the pages are found');
  const objections = pages.flatMap((page) =>
    [...objectionsToText(read(page)), ...objectionsToLinks(page, read(page))].map(namedIn(page)),
  );
  t.equal(objections.join('\n'), '');
});

t.test('every safety rule has its place, its reason, its code and its guards', async (t) => {
  const rules = read('docs/method.md')
    .split(/^### (?=S\d)/m)
    .slice(1)
    .map((rule) => rule.split(/^## /m)[0] ?? '');
  t.same(
    rules.map((rule) => /^S\d+/.exec(rule)?.[0]),
    Array.from({ length: 13 }, (_, k) => `S${k + 1}`),
  );
  for (const rule of rules) {
    for (const part of ['Why', 'Code', 'Guards']) t.match(rule, `- **${part}.** `, rule.split('\n')[0]);
  }
});

t.test('the planted faults of the docs are those of the campaign', async (t) => {
  const planted = [...MUTANTS, ...GPU_MUTANTS].map(({ name }) => name).sort();
  const table =
    read('docs/guarantee.md')
      .split('### Planted faults')[1]
      ?.match(/^\|.*\|$/gm) ?? [];
  const listed = table.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
  t.same([...new Set(listed)].sort(), planted, 'the table of docs/guarantee.md');
  const guards = read('docs/method.md').match(/^- \*\*Guards\.\*\*(?:.*\n)(?: {2}.*\n)*/gm) ?? [];
  const named = guards.flatMap((guard) => [...guard.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
  t.ok(named.length > 10, 'the guards of docs/method.md are found');
  t.same(
    named.filter((name) => !planted.includes(name ?? '')),
    [],
    'the guards of docs/method.md',
  );
});

t.test('docs/architecture.md describes every folder', async (t) => {
  const page = read('docs/architecture.md');
  const rooms = readdirSync(join(projectRoot, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of rooms) t.ok(page.includes(`| \`src/${name}\` |`), name);
  for (const { name } of readdirSync(join(projectRoot, 'gpu'), { withFileTypes: true })) {
    if (!name.endsWith('.ts')) t.ok(page.includes(`\`${name}\``), `gpu/${name}`);
  }
  for (const { name } of readdirSync(join(projectRoot, 'bench'), { withFileTypes: true })) {
    if (!name.endsWith('.ts')) t.ok(page.includes(`\`${name}/\``), `bench/${name}`);
  }
});

t.test('names of code in docs/architecture.md and docs/method.md exist', async (t) => {
  const words = new Set(
    code.filter((path) => /\.(ts|wgsl|proto)$/.test(path)).flatMap((path) => read(path).match(/\w+/g) ?? []),
  );
  const planted = new Set([...MUTANTS, ...GPU_MUTANTS].map(({ name }) => name));
  const stems = new Set(files.map((path) => posix.basename(path).replace(/\..*$/, '')));
  for (const page of ['docs/architecture.md', 'docs/method.md']) {
    const named = [...read(page).matchAll(/`([\w.-]+)`/g)].map(([, name = '']) => name);
    const identifiers = named.filter((name) => /^[A-Za-z]\w+(\.\w+)*$/.test(name) && !endings.has(name));
    t.ok(identifiers.length > 10, page);
    t.same(
      identifiers.filter((name) => !name.split('.').every((word) => words.has(word))),
      [],
      `identifiers of ${page}`,
    );
    t.same(
      named.filter((name) => /^[a-z]+(-[a-z]+)+$/.test(name) && !planted.has(name) && !stems.has(name)),
      [],
      `files and faults of ${page}`,
    );
  }
});

t.test('the pages know the current version of the algorithm', async (t) => {
  const measurements = read('docs/measurements.md');
  t.equal(/The current one is (\d+)\./.exec(measurements)?.[1], algorithmVersion, 'docs/measurements.md');
  const table = /^\| version \| what changed .*\n(?:\|.*\n)+/m.exec(measurements)?.[0] ?? '';
  const [, last] = /^\| (?:.* )?(\d+) \| .*\n$/m.exec(table.slice(table.lastIndexOf('\n', table.length - 2) + 1)) ?? [];
  t.equal(last, algorithmVersion, 'the last row of its table of versions');
  const [, newest] = /^### Answers by algorithm version[\s\S]*?^\| (\d+) \| /m.exec(read('CHANGELOG.md')) ?? [];
  t.equal(newest, algorithmVersion, 'CHANGELOG.md');
});

t.test('result files that pages name exist', async (t) => {
  const names = /`(?:bench\/results\/)?(\d{4}-\d\d-\d\d[\w-]*\.json)`/g;
  const named = pages.flatMap((page) => [...read(page).matchAll(names)].map(([, name = '']) => ({ page, name })));
  t.ok(named.length > 10, 'the names are found');
  for (const { page, name } of named) t.ok(isThere(`bench/results/${name}`), `${page}: ${name}`);
});

interface WholeResolve {
  readonly scene: string;
  readonly vertices: number;
  readonly triangles: number;
  readonly steps: number;
  readonly searches: number;
  readonly milliseconds: { readonly median: number };
  readonly stages: Readonly<Record<string, { readonly median: number }>>;
}

t.test('the table of whole resolves is that of its files', async (t) => {
  const section = /^## A whole resolve\n([\s\S]*?)^## /m.exec(read('docs/measurements.md'))?.[1] ?? '';
  const files = [...section.matchAll(/`([\w-]+\.json)`/g)].map(
    ([, name]) => JSON.parse(read(`bench/results/${name}`)) as { readonly measurements: readonly WholeResolve[] },
  );
  t.equal(files.length, 2, 'the files are named');
  const rows = section.match(/^\| (?:`\w+`|a dress) .*\|$/gm) ?? [];
  t.ok(rows.length > 5, 'the rows are found');
  for (const row of rows) {
    const [name = '', vertices, triangles, ...figures] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const scene = /^`(\w+)`$/.exec(name)?.[1] ?? 'dress';
    const time = (ms: number) => (scene === 'dress' ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(0)} ms`);
    const count = (number: number) => (number === 0 ? '–' : number.toLocaleString('en-US'));
    const measured = files.flatMap(({ measurements }) => measurements.filter((one) => one.scene === scene));
    const expected = measured.flatMap(({ steps, searches, milliseconds, stages }) => {
      const solving = ['search', 'geometry', 'backward', 'forward'].map((stage) => stages[stage]?.median ?? Number.NaN);
      const times = [milliseconds.median, solving.reduce((a, b) => a + b), stages.verify?.median ?? Number.NaN];
      return [`${steps}/${searches}`, ...times.map(time)];
    });
    t.same(
      [vertices, triangles],
      [measured[0]?.vertices, measured[0]?.triangles].map((n) => count(n ?? -1)),
      row,
    );
    t.same(figures, expected, row);
  }
});

/** Flags by command line, as "resolve" or "job list". */
function flagsOfCommands(): Map<string, ReadonlySet<string>> {
  const program = buildProgram({ terminal: { out: {}, err: {} } } as unknown as CliContext, () => undefined);
  const commands = program.commands.flatMap((command) => [
    { name: command.name(), command },
    ...command.commands.map((inner) => ({ name: `${command.name()} ${inner.name()}`, command: inner })),
  ]);
  return new Map(
    commands.map(({ name, command }) => [name, new Set(['--help', ...command.options.map(({ long }) => long ?? '')])]),
  );
}

t.test('commands, flags, scripts and settings that pages name exist', async (t) => {
  const flags = flagsOfCommands();
  const known = new Set([...flags.values()].flatMap((names) => [...names]));
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const variables = new Set(
    [...code, ...files.filter((path) => path.endsWith('.yml'))].flatMap(
      (path) => read(path).match(/\bINTERSTICE_\w+/g) ?? [],
    ),
  );
  let named = 0;
  const check = (is: boolean, what: string) => {
    named++;
    if (!is) t.fail(what);
  };
  for (const page of pages) {
    const text = read(page).replaceAll('\\\n', ' ');
    for (const [, name = '', rest = ''] of text.matchAll(
      /(?:interstice|cli\/main\.js) ([a-z]+(?: [a-z]+)?)( [^`\n]*)?/g,
    )) {
      const command = [name, name.split(' ')[0] ?? ''].find((words) => flags.has(words));
      if (command === undefined || command === 'bench') continue;
      for (const [flag] of rest.matchAll(/(?<= )--[a-z][\w-]*/g)) {
        check(flags.get(command)?.has(flag) === true, `${page}: ${command} ${flag}`);
      }
    }
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([\w:]+)/g)) {
      check(script in scripts, `${page}: npm run ${script}`);
    }
    for (const [, program = ''] of text.matchAll(/node (?:--\S+ )?dist\/([\w/.-]+)\.js/g)) {
      check(isThere(`${program}.ts`), `${page}: node dist/${program}.js`);
    }
    for (const [variable] of text.matchAll(/\bINTERSTICE_[A-Z\d_]*[A-Z\d](?![\w*])/g)) {
      check(variables.has(variable), `${page}: ${variable}`);
    }
  }
  const guide = read('docs/cli.md');
  for (const [, flag = ''] of guide.matchAll(/`(--[a-z][\w-]*)/g)) check(known.has(flag), `docs/cli.md: ${flag}`);
  t.ok(named > 300, `${named} names are checked`);
  const listed = [...guide.matchAll(/^\| `interstice ([a-z]+)/gm)].map(([, name]) => name);
  t.same(
    [...listed].sort(),
    [...flags.keys()].filter((name) => !name.includes(' ')).sort(),
    'the table of docs/cli.md has every command',
  );
});

t.test('planted pointers that lead nowhere are found', async (t) => {
  const comments = [
    'see docs/method.md, S14',
    'see docs/method.md, S4 and\n * S99',
    'see docs/method.md, no such section',
    'see docs/no-such-page.md',
    'see method.md 4.2',
    'see method.md',
    'as method 4.3 has it',
    'safety rule 7',
    'safety\n// rules 4 and 5',
    'mirrors src/solver/no-such-file.ts',
    'mirrors no-such-file.wgsl',
  ];
  for (const comment of comments) {
    for (const text of [`/** ${comment} */`, `// ${comment.replaceAll('\n * ', '\n// ')}`]) {
      t.not(commentsOf('x.ts', text).flatMap(objectionsToComment).length, 0, text);
    }
  }
  t.not(objectionsToLinks('README.md', '[x](docs/no-such-page.md)').length, 0);
  t.not(objectionsToLinks('README.md', '[x](docs/method.md#no-such-anchor)').length, 0);
  for (const right of [
    '// docs/method.md, S7',
    '/* docs/method.md, S4 and S5; src/paths.ts */',
    '// docs/method.md, Trust boxes',
  ]) {
    t.same(commentsOf('x.ts', right).flatMap(objectionsToComment), [], right);
  }
  t.same(objectionsToLinks('docs/api.md', '[x](method.md#safety-rules) [y](#sessions)'), []);
});
