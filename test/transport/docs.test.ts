import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { describeConfig } from '../../src/config.js';
import { ERRORS } from '../../src/errors.js';
import { projectRoot } from '../../src/paths.js';
import { decodeJson } from '../../src/transport/json/decode.js';
import { readOptions } from '../../src/transport/json/options.js';
import { messageShape } from '../../src/transport/json/schema.js';
import { toResolveRequest } from '../../src/transport/messages.js';

/** The guide's generated parts. `UPDATE_DOCS=1 node FILE` writes them anew. */
const PARTS: Readonly<Record<string, string>> = {
  errors: [
    '| code | status | retry | what to do |',
    '|---|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([code, kind]) => `| \`${code}\` | ${kind.http} | ${kind.retryable ? 'yes' : 'no'} | ${kind.hint} |`,
    ),
  ].join('\n'),
  settings: `\`\`\`\n${describeConfig()}\n\`\`\``,
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

t.test('its examples are requests', async (t) => {
  const json = /-d '([^']+)'/.exec(guide)?.[1] ?? '';
  const request = toResolveRequest(decodeJson('ResolveRequest', JSON.parse(json)).message);
  t.equal(request.start.length, 3 * request.mesh.vertexCount);
  t.equal(request.target.length, request.start.length);
  const options = /options=(\{[^']*\})/.exec(guide)?.[1] ?? '';
  t.equal(readOptions(JSON.parse(options), { vertexCount: 15106, parts: [] }).kinematic?.[15105], 1);
});

t.test('it names every option', async (t) => {
  for (const { jsonName } of messageShape('Options').fields) {
    // One queue: the only priority that is taken changes nothing.
    if (jsonName !== 'priority') t.ok(guide.includes(`\`${jsonName}\``), jsonName);
  }
});
