import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ERRORS } from '../../src/contract/errors.js';
import { projectRoot } from '../../src/paths.js';
import { decodeJson } from '../../src/transport/json/decode.js';
import { readOptions } from '../../src/transport/json/options.js';
import { toResolveRequest } from '../../src/transport/messages/requests.js';
import { messageShape } from '../../src/transport/messages/schema.js';
import { openOperations } from '../conformance/run.js';
import { openApp } from './door.js';

/** The guide's generated parts. `UPDATE_DOCS=1 node FILE` writes them anew. */
const PARTS: Readonly<Record<string, string>> = {
  errors: [
    '| code | HTTP | gRPC | retry | what to do |',
    '|---|---|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([code, kind]) =>
        `| \`${code}\` | ${kind.http} | \`${kind.grpc}\` | ${kind.retryable ? 'yes' : 'no'} | ${kind.hint} |`,
    ),
  ].join('\n'),
};

const path = join(projectRoot, 'docs', 'api.md');
const pattern = /(<!-- generated: (\w+) -->\n)([\s\S]*?)(<!-- end -->)/g;
if (process.env.UPDATE_DOCS === '1') {
  const updated = readFileSync(path, 'utf8').replace(
    pattern,
    (_whole, open: string, name: string, _old: string, end: string) => `${open}${PARTS[name]}\n${end}`,
  );
  writeFileSync(path, updated);
}
const guide = readFileSync(path, 'utf8');

t.test('the tables of the guide are those of the program', async (t) => {
  const found = [...guide.matchAll(pattern)].map((match) => [match[2], match[3]?.trim()]);
  t.same(Object.fromEntries(found), PARTS);
});

t.test('the examples of the guide are valid requests', async (t) => {
  const json = /-d '([^']+)'/.exec(guide)?.[1] ?? '';
  const request = toResolveRequest(decodeJson('ResolveRequest', JSON.parse(json)).message);
  t.equal(request.start.length, 3 * request.mesh.vertexCount);
  t.equal(request.target.length, request.start.length);
  const options = /options=(\{[^']*\})/.exec(guide)?.[1] ?? '';
  t.equal(readOptions(JSON.parse(options), { vertexCount: 1251, parts: [] }).kinematic?.[961], 1);
});

t.test('the guide names every option', async (t) => {
  for (const { jsonName } of messageShape('Options').fields) {
    t.ok(guide.includes(`\`${jsonName}\``), jsonName);
  }
});

/** Every `code: 'CODE'` of the sources in these folders. */
function codesIn(folders: readonly string[]): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const sources = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(projectRoot, name), 'utf8'));
  return [
    ...new Set(sources.flatMap((text) => [...text.matchAll(/\bcode: '([A-Z_]+)'/g)].map(([, code = '']) => code))),
  ];
}

t.test('the guides name every warning', async (t) => {
  const codes = codesIn([
    'src/jobs',
    'src/mesh',
    'src/session',
    'src/solver',
    'src/untangle',
    'src/lanes',
    'src/threads',
    'gpu',
  ]);
  const ofProcess = codes.filter((code) => code.startsWith('INTERSTICE_'));
  const others = new Set(['OK', 'SMALLEST_TIME_BUDGET', ...Object.keys(ERRORS), ...ofProcess]);
  const table = /### Warnings\n[\s\S]*?(?=\n## )/.exec(guide)?.[0] ?? '';
  const listed = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[A-Z_]+/g) ?? []);
  t.same([...listed].sort(), codes.filter((code) => !others.has(code)).sort(), 'docs/api.md');
  const operations = readFileSync(join(projectRoot, 'docs', 'operations.md'), 'utf8');
  const ofOperations = /\*\*Warnings of the process\.\*\*[\s\S]*?(?=\n\*\*)/.exec(operations)?.[0] ?? '';
  const told = [...ofOperations.matchAll(/^\| `(INTERSTICE_[A-Z_]+)` \| [^|]* \|$/gm)].map(([, code]) => code);
  t.same([...told].sort(), ofProcess.sort(), 'docs/operations.md');
});

/** One curl command of the guide as a request; only what the guide uses is understood. */
function requestOf(command: string, id: string) {
  const words = [...command.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, single, double, bare]) =>
    single === undefined ? (double?.replace(/\\(.)/g, '$1') ?? bare ?? '').replace('$ID', id) : single,
  );
  const after = (flag: string) => words[words.indexOf(flag) + 1] ?? '';
  const url = new URL(words.find((word) => word.startsWith('http:')) ?? '');
  const isFile = words.includes('--data-binary');
  const payload = isFile ? Buffer.from(new Float32Array(18).buffer) : words.includes('-d') ? after('-d') : undefined;
  const method = words.includes('-X') ? after('-X') : payload === undefined ? 'GET' : 'POST';
  const [name = '', value = ''] = after('-H').split(': ');
  return {
    method: method as 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: `${url.pathname}${url.search}`,
    headers: words.includes('-H') ? { [name]: value } : {},
    ...(payload === undefined ? {} : { payload }),
  };
}

t.test('the walk through a session works as it is printed', async (t) => {
  const section = /## Sessions\n([\s\S]*?)\n## /.exec(guide)?.[1] ?? '';
  const commands = [...section.matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block]) => (block ?? '').split(/^(?=curl )/m))
    .map((command) => command.replaceAll('\\\n', ' '));
  t.equal(commands.length, 8);
  const app = await openApp(t, await openOperations(t));
  let id = '';
  const statuses: number[] = [];
  for (const command of commands) {
    const answer = await app.inject(requestOf(command, id));
    statuses.push(answer.statusCode);
    if (answer.statusCode >= 400) t.fail(command, { answer: answer.body });
    id ||= answer.json().id;
  }
  t.same(statuses, [201, 200, 200, 200, 200, 200, 200, 204]);
});
