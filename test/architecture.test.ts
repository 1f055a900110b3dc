import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { projectRoot } from '../src/paths.js';

/**
 * Holds the walls of docs/architecture.md: which room may know which. A room is a folder of src, or gpu; the file
 * src/index.ts is a room of its own.
 */

/** What each room may import besides itself, the shared files and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  threads: [],
  mesh: ['contract'],
  verify: ['contract', 'mesh', 'threads'],
  diagnose: ['contract', 'mesh', 'verify'],
  solver: ['contract', 'mesh', 'threads'],
  untangle: ['contract', 'solver', 'diagnose', 'verify', 'mesh', 'threads'],
  gpu: ['contract', 'solver', 'verify', 'mesh', 'threads'],
  // A job's thread chooses its engine, so this is the one room below the composition root that may open the GPU engine.
  jobs: ['contract', 'solver', 'diagnose', 'untangle', 'verify', 'mesh', 'gpu'],
  lanes: ['contract', 'jobs', 'solver', 'mesh', 'threads'],
  store: ['contract'],
  session: ['contract', 'store', 'lanes', 'jobs', 'solver', 'verify', 'mesh'],
  observe: ['contract'],
  transport: ['contract', 'session', 'jobs', 'lanes', 'solver', 'mesh', 'observe'],
  config: ['contract'],
  // Callers of the service, through its wire: what puts load on it, and what plans from that.
  load: ['contract', 'transport'],
  plan: ['contract', 'load'],
  // The caller's side: it runs in browsers too, so it shares the contract's types with the service and no code.
  client: ['contract'],
  // In the browser: a caller like any other, which reads files as the command line does.
  page: ['contract', 'client', 'mesh'],
  // The places that put rooms together:
  server: [
    'config',
    'contract',
    'store',
    'observe',
    'transport',
    'session',
    'jobs',
    'lanes',
    'solver',
    'verify',
    'mesh',
    'gpu',
  ],
  // Draws pictures without a browser, for commands.
  picture: [],
  cli: [
    'load',
    'plan',
    'page',
    'picture',
    'server',
    'config',
    'contract',
    'observe',
    'transport',
    'store',
    'session',
    'lanes',
    'jobs',
    'solver',
    'diagnose',
    'mesh',
    'gpu',
  ],
  index: ['contract', 'store', 'session', 'jobs', 'lanes', 'solver', 'verify', 'mesh'],
};

/** Known to everybody. */
const SHARED = ['paths', 'folders'];

/** Packages that only some rooms may know. */
const PACKAGES: readonly { readonly name: RegExp; readonly rooms: readonly string[] }[] = [
  { name: /^(fastify|@fastify\/.*|protobufjs.*|@grpc\/.*)$/, rooms: ['transport', 'server', 'load'] },
  { name: /^webgpu$/, rooms: ['gpu'] },
  { name: /^commander$/, rooms: ['cli'] },
  { name: /^three(\/.*)?$/, rooms: ['page'] },
  { name: /^@gltf-transform\/.*$/, rooms: ['mesh'] },
  { name: /^@redis\/client$/, rooms: ['store'] },
  { name: /^pngjs$/, rooms: ['picture'] },
  { name: /^playwright-core$/, rooms: [] },
  { name: /^pino$/, rooms: ['observe', 'server', 'transport'] },
  { name: /^(prom-client|@opentelemetry\/api)$/, rooms: ['observe'] },
];

interface Reference {
  readonly from: string;
  /** a path inside the repository, or a package's name */
  readonly to: string;
  readonly isPackage: boolean;
  readonly isTypeOnly: boolean;
}

const isTypeImport = (clause: ts.ImportClause | undefined): boolean =>
  clause !== undefined &&
  (clause.isTypeOnly ||
    (clause.name === undefined &&
      clause.namedBindings !== undefined &&
      ts.isNamedImports(clause.namedBindings) &&
      clause.namedBindings.elements.every((element) => element.isTypeOnly)));

/** Everything a source file names from elsewhere: imports, re-exports, import(), import types, new URL('./…', import.meta.url). */
function findReferences(file: string, text: string): Reference[] {
  const references: Reference[] = [];
  const note = (specifier: string, isTypeOnly: boolean) => {
    const isPackage = !specifier.startsWith('.');
    const to = isPackage ? specifier : posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
    references.push({ from: file, to, isPackage, isTypeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      note(node.moduleSpecifier.text, isTypeImport(node.importClause));
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      note(node.moduleSpecifier.text, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) note(node.argument.literal.text, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteralLike(argument)) note(argument.text, false);
    } else if (ts.isNewExpression(node) && node.expression.getText(source) === 'URL') {
      const [argument, base] = node.arguments ?? [];
      if (argument && ts.isStringLiteralLike(argument) && base?.getText(source) === 'import.meta.url') {
        note(argument.text, false);
      }
    }
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  visit(source);
  return references;
}

/** "src/solver/frame.ts" → "solver", "gpu/engine.ts" → "gpu", "src/index.ts" → "index"; undefined outside the rooms. */
function roomOf(path: string): string | undefined {
  const [top, second] = path.split('/');
  if (top === 'gpu') return 'gpu';
  return top === 'src' ? second?.replace(/\.ts$/, '') : undefined;
}

/** Why a reference is forbidden; undefined when it is allowed. */
function objectionTo({ from, to, isPackage, isTypeOnly }: Reference): string | undefined {
  const room = roomOf(from) ?? '';
  if (isPackage) {
    const rule = PACKAGES.find(({ name }) => name.test(to));
    return rule && !rule.rooms.includes(room)
      ? `${from} imports the package ${to}, which only ${rule.rooms} may`
      : undefined;
  }
  const target = roomOf(to);
  if (target === undefined) {
    // The command line starts the benchmark where there is one; nothing else of the product leaves the rooms.
    // Page and command line confirm certificates with the checker that anybody can run by itself.
    if ((room === 'page' || room === 'cli') && to === 'checker/certificate.mjs') return undefined;
    return room === 'cli' && to.startsWith('bench/') ? undefined : `${from} reaches out of src and gpu: ${to}`;
  }
  if (target === room || SHARED.includes(target)) return undefined;
  if (room === 'client' && target === 'contract' && !isTypeOnly) return `${from} takes code from the contract: ${to}`;
  if (room === 'page' && target === 'mesh' && !/^src\/mesh\/(files\/|gltf\/|weld\.ts$)/.test(to))
    return `${from} reads no files: ${to}`;
  return (MAY_IMPORT[room] ?? []).includes(target) ? undefined : `${from} (${room}) may not know ${to} (${target})`;
}

const listSources = (folder: string): string[] =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((name) => name.endsWith('.ts'));

const sources = [...listSources('src'), ...listSources('gpu')];

t.test('every import obeys the rules of its folder', async (t) => {
  t.ok(sources.length > 10, 'the sources are found');
  const references = sources.flatMap((file) => findReferences(file, readFileSync(join(projectRoot, file), 'utf8')));
  t.ok(references.length > sources.length, 'the imports are found');
  t.same(references.map(objectionTo).filter(Boolean), []);
});

t.test('every folder has an import rule', async (t) => {
  const rooms = new Set(sources.map((file) => roomOf(file) ?? file));
  for (const room of SHARED) rooms.delete(room);
  t.same(
    [...rooms].filter((room) => MAY_IMPORT[room] === undefined),
    [],
  );
});

t.test('the import rules reject planted faults', async (t) => {
  const objections = (file: string, text: string) => findReferences(file, text).map(objectionTo).filter(Boolean);
  const forbidden: [string, string][] = [
    ['src/verify/state.ts', "import { pairs } from '../solver/cpu/pair-set.js';"],
    ['src/verify/state.ts', "import type { Parameters } from '../solver/engine.js';"],
    ['src/solver/parameters.ts', "import { findIntersections } from '../verify/state.js';"],
    ['src/mesh/build.ts', "export * from '../solver/frame.js';"],
    ['src/lanes/pool.ts', "import { createOperations } from '../session/operations.js';"],
    ['src/jobs/report.ts', "import type { Call } from '../session/call.js';"],
    ['src/jobs/report.ts', "import { Lane } from '../lanes/lane-pool.js';"],
    ['src/contract/report.ts', "import type { CollisionMesh } from '../mesh/types.js';"],
    ['src/client/client.ts', "import { IntersticeError } from '../contract/errors.js';"],
    ['src/page/main.ts', "import type { Parameters } from '../solver/engine.js';"],
    ['src/page/main.ts', "import { findIntersections } from '../verify/state.js';"],
    ['src/page/main.ts', "import { buildMesh } from '../mesh/build.js';"],
    ['src/solver/frame.ts', "import { checkCertificate } from '../../checker/certificate.mjs';"],
    ['src/cli/main.ts', "import { Vector3 } from 'three';"],
    ['src/session/operations.ts', "const { app } = await import('../transport/http/app.js');"],
    ['src/session/operations.ts', "import fastify from 'fastify';"],
    ['src/session/operations.ts', "import protobuf from 'protobufjs/light.js';"],
    ['src/lanes/pool.ts', "const url = new URL('../transport/http/app.js', import.meta.url);"],
    ['src/solver/cpu/engine.ts', "import { openAdapter } from '../../../gpu/adapter.js';"],
    ['src/solver/frame.ts', "let x: import('../session/operations.js').OperationsOptions;"],
    ['src/transport/http/app.ts', "import { readConfig } from '../../config/config.js';"],
    ['src/session/operations.ts', "import { create } from 'webgpu';"],
    ['gpu/adapter.ts', "import { WorkerPool } from '../src/lanes/pool.js';"],
    ['src/mesh/build.ts', "import { seeded } from '../../test/support/random.js';"],
  ];
  for (const [file, text] of forbidden) t.equal(objections(file, text).length, 1, `${file}: ${text}`);
  const allowed: [string, string][] = [
    ['src/jobs/engines.ts', "import { openAdapter } from '../../gpu/adapter.js';"],
    ['src/client/client.ts', "import type { Limits } from '../contract/server-info.js';"],
    ['src/page/main.ts', "import { Client } from '../client/client.js';"],
    ['src/page/certifier.ts', "import { checkCertificate } from '../../checker/certificate.mjs';"],
    ['src/page/files/open-files.ts', "import { ObjReader } from '../../mesh/files/obj.js';"],
    ['src/page/ui/open-dialog.ts', "import { findCoincident } from '../../mesh/weld.js';"],
    ['src/page/files/open-files.ts', "import { parseGltf } from '../../mesh/gltf/parse.js';"],
    ['src/lanes/pool.ts', "import type { Limits, ServerInfo } from '../contract/server-info.js';"],
    ['src/mesh/build.ts', "import { IntersticeError } from '../contract/errors.js';"],
    ['src/transport/http/app.ts', "import fastify from 'fastify';"],
    ['src/server/server.ts', "import { openApp } from '../transport/http/app.js';"],
  ];
  for (const [file, text] of allowed) t.same(objections(file, text), [], `${file}: ${text}`);
});

/** What the campaigns may import besides themselves: each wall holds below its folder, the innermost one counts. */
const BENCH_WALLS: readonly BenchWall[] = [
  {
    // The judge decides from the contract alone: a fault that it shared with an engine would go unseen.
    folder: 'bench/prove/judge/',
    code: [],
    types: [/^src\/contract\//, /^bench\/prove\/doors\/door\.ts$/],
    hasPackages: false,
  },
  {
    // The campaign reaches the service through its doors only; what it plants is named by the types of the product.
    // Surfaces build meshes and know nothing but the contract's types.
    folder: 'bench/prove/',
    code: [
      /^src\/paths\.ts$/,
      /^src\/mesh\/files\//,
      /^bench\/(machine|closed-pipe|whole-file)\.ts$/,
      /^bench\/untangle\/surfaces\.ts$/,
    ],
    types: [/^src\//],
    hasPackages: true,
  },
  {
    folder: 'bench/load/',
    code: [
      /^src\/(contract|transport|load)\//,
      /^src\/paths\.ts$/,
      /^bench\/(prove\/server|machine|closed-pipe|whole-file)\.ts$/,
      /^examples\//,
    ],
    types: [],
    hasPackages: true,
  },
];

interface BenchWall {
  readonly folder: string;
  /** files outside the folder from which it may take code, and types */
  readonly code: readonly RegExp[];
  /** files outside the folder from which it may take types only */
  readonly types: readonly RegExp[];
  readonly hasPackages: boolean;
}

/** Why a reference of the campaigns is forbidden; undefined when it is allowed. */
function objectionToBench({ from, to, isPackage, isTypeOnly }: Reference): string | undefined {
  const wall = BENCH_WALLS.find(({ folder }) => from.startsWith(folder));
  if (!wall) return undefined;
  const isAllowed = isPackage
    ? wall.hasPackages
    : to.startsWith(wall.folder) || [...wall.code, ...(isTypeOnly ? wall.types : [])].some((each) => each.test(to));
  return isAllowed ? undefined : `${from} may not know ${to}`;
}

const benchSources = listSources('bench').filter((file) => !file.startsWith('bench/results/'));

t.test('the campaigns import only what they may', async (t) => {
  for (const { folder } of BENCH_WALLS)
    t.ok(
      benchSources.some((file) => file.startsWith(folder)),
      folder,
    );
  const references = benchSources.flatMap((file) =>
    findReferences(file, readFileSync(join(projectRoot, file), 'utf8')),
  );
  // Paths of the build and of other programs, which are no imports.
  const imports = references.filter(({ to }) => /\.ts$/.test(to) || !to.startsWith('.'));
  t.same(imports.map(objectionToBench).filter(Boolean), []);
  const objections = (file: string, text: string) => findReferences(file, text).map(objectionToBench).filter(Boolean);
  const forbidden: [string, string][] = [
    ['bench/prove/judge/nearest.ts', "import { ClosestPoints } from '../../../src/verify/closest.js';"],
    ['bench/prove/judge/nearest.ts', "import type { Closest } from '../../../src/verify/closest.js';"],
    ['bench/prove/judge/surface.ts', "import { IntersticeError } from '../../../src/contract/errors.js';"],
    ['bench/prove/judge/exact-meeting.ts', "import { orient3d } from 'robust-predicates';"],
    ['bench/prove/judge/answer-judge.ts', "import { Client } from '../client.js';"],
    ['bench/prove/try-case.ts', "import { findIntersections } from '../../src/verify/state.js';"],
    ['bench/load/sample.ts', "import { Scheduler } from '../../src/lanes/scheduler.js';"],
  ];
  for (const [file, text] of forbidden) t.equal(objections(file, text).length, 1, `${file}: ${text}`);
});

t.test('the judge has no circular imports', async (t) => {
  const folder = 'bench/prove/judge/';
  const known = new Map(
    benchSources
      .filter((file) => file.startsWith(folder))
      .map((file) => [file, findReferences(file, readFileSync(join(projectRoot, file), 'utf8')).map(({ to }) => to)]),
  );
  const cycles: string[] = [];
  const walk = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) cycles.push([...trail, file].join(' → '));
    else for (const to of known.get(file) ?? []) walk(to, [...trail, file]);
  };
  for (const file of known.keys()) walk(file, []);
  t.same(cycles, []);
});

/** Beside these, only files whose name begins with a dot. */
const TOP_LEVEL = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'LICENSE',
  'README.md',
  'bench',
  'biome.json',
  'checker',
  'clients',
  'deploy',
  'docker-compose.yml',
  'docs',
  'examples',
  'gpu',
  'package-lock.json',
  'package.json',
  'proto',
  'src',
  'test',
  'tsconfig.json',
];

/** The owner of the folder may be another user in a build container; git then refuses without the setting. */
const listing = spawnSync(
  'git',
  ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'],
  { cwd: projectRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
const isCheckout = existsSync(join(projectRoot, '.git')) && listing.error === undefined;

t.test(
  'the top level holds nothing unexpected',
  { skip: isCheckout ? false : 'no git, or not a checkout: untracked files cannot be told apart' },
  async (t) => {
    t.equal(listing.status, 0, listing.stderr);
    const names = new Set(
      listing.stdout
        .split('\0')
        .filter(Boolean)
        .map((path) => path.split('/')[0]),
    );
    t.ok(names.has('package.json'), 'git lists the files');
    t.same(
      [...names].filter((name) => !name.startsWith('.') && !TOP_LEVEL.includes(name)),
      [],
    );
  },
);
