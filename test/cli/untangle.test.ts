import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { exampleRequests } from '../../examples/requests.js';
import { readMeshFile } from '../../src/mesh/files/index.js';
import { openService } from '../clients/service.js';
import { run } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'interstice-untangle-'));

/** The two sheets of the example request as an OBJ of two objects. */
function writeTangled(): string {
  const { mesh, positions } = exampleRequests().get('untangle') as {
    readonly mesh: { readonly triangles: readonly number[] };
    readonly positions: { readonly data: readonly number[] };
  };
  const rows = (values: readonly number[]) =>
    Array.from({ length: values.length / 3 }, (_, k) => values.slice(3 * k, 3 * k + 3));
  const lines = rows(positions.data).map((xyz) => `v ${xyz.join(' ')}`);
  rows(mesh.triangles).forEach((ids, k) => {
    if (k === 0) lines.push('o lower');
    if (ids[0] === 9 && !lines.includes('o upper')) lines.push('o upper');
    lines.push(`f ${ids.map((id) => id + 1).join(' ')}`);
  });
  const path = join(folder, 'tangled.obj');
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const tangled = writeTangled();

// Pictures and engines beside other work take their time.
t.setTimeout(600_000);

t.test('a tangled mesh is freed, written and drawn; the summary says what was guessed', async (t) => {
  const [output, picture] = [join(folder, 'free.obj'), join(folder, 'free.png')];
  const { status, stdout } = await run(['untangle', tangled, '-o', output, '--picture', picture]);
  t.equal(status, 0, stdout);
  t.match(stdout, /tangled\.obj: free of intersections after/);
  t.match(stdout, /pierces +14 in the start, 0 in the answer/);
  t.match(
    stdout,
    /contour 0 +closed, 14 pierces: 1 vertex of upper on the wrong side, the smaller part, a guess \(\d+ % sure\)/,
  );
  t.match(stdout, /stretch +edges have .* times their lengths in the start\n/);
  t.equal((await readMeshFile(output)).vertexCount, 18);
  t.equal((await run(['check', output])).status, 0);
  t.equal(readFileSync(picture).subarray(1, 4).toString(), 'PNG');
});

t.test('a hint about parts decides, a contour can be turned, and JSON has the report', async (t) => {
  const hinted = await run(['untangle', tangled, '--layer', 'lower:upper', '--json']);
  t.match(JSON.parse(hinted.stdout), { status: 'FREE', contours: [{ why: 'HINT', confidence: 1 }] });
  // The start alone decides what is wrong: of the nine vertices of the upper sheet it is one, and turned the other eight.
  const turned = await run(['untangle', tangled, '--turn', '0', '--max-iterations', '1', '--rest', tangled]);
  t.match(turned.stdout, /stretch +edges have .* times their lengths at rest\n/);
  t.match(turned.stdout, /contour 0 +closed, 14 pierces: [^\n]*8 vertices of upper on the wrong side, turned/);
});

t.test(
  'what is refused: unknown parts and contours, hints about a file without parts, other names of pictures',
  async (t) => {
    t.match(await run(['untangle', tangled, '--layer', 'lower:nope']), { status: 3, stderr: /nope/ });
    t.match(await run(['untangle', tangled, '--turn', '7']), { status: 3, stderr: /contour 7/ });
    t.match(await run(['untangle', tangled, '--layer', 'lower']), { status: 2, stderr: /INNER:OUTER/ });
    t.match(await run(['untangle', tangled, '--picture', 'a.jpg']), { status: 2, stderr: /\.png/ });
    for (const [name, value] of [
      ['include', { contacts: true }],
      ['onBudget', 'FAIL'],
    ] as const) {
      const options = join(folder, 'options.json');
      writeFileSync(options, JSON.stringify({ [name]: value }));
      t.match(await run(['untangle', tangled, '--options', options]), { status: 2, stderr: name });
    }
    const plain = join(folder, 'plain.obj');
    writeFileSync(plain, 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n');
    t.match(await run(['untangle', plain, '--layer', 'a:b']), { status: 2, stderr: /names parts/ });
    t.match(await run(['untangle', plain]), { status: 0, stdout: /pierces +0 in the start/ });
  },
);

const service = await openService();
t.teardown(() => service.close());
const at = ['--server', service.url];

t.test('a terminal is shown the progress, of an engine here and of a service, unless it is to be quiet', async (t) => {
  for (const place of [[], at]) {
    const { status, stderr } = await run(['untangle', tangled, ...place], { isTerminal: true });
    t.equal(status, 0, stderr);
    t.match(stderr, /\riteration \d+: \d+ pierces? in \d+ contours? /);
    t.equal((await run(['untangle', tangled, '--quiet', ...place], { isTerminal: true })).stderr, '');
    t.equal((await run(['untangle', tangled, ...place])).stderr, '');
  }
});

t.test('as a job it has the same answer, and is deleted when that is on the disk', async (t) => {
  const [plain, output] = [join(folder, 'plain-answer.obj'), join(folder, 'job.obj')];
  t.equal((await run(['untangle', tangled, '-o', plain, ...at])).status, 0);
  const { status, stdout, stderr } = await run(['untangle', tangled, '-o', output, '--job', '--json', ...at]);
  t.equal(status, 0, stderr);
  t.match(stderr, /^job \S+\n$/);
  t.match(JSON.parse(stdout), { status: 'FREE', contours: [{ pierces: 14 }] });
  t.equal(readFileSync(output, 'utf8'), readFileSync(plain, 'utf8'));
  t.match(await run(['job', 'list', ...at]), { stdout: 'no jobs\n' });
  t.match(await run(['untangle', tangled, '--job']), { status: 2, stderr: /--job needs --server/ });
});

t.test('a job that was left is fetched with its report and its positions', async (t) => {
  const { stderr } = await run(['untangle', tangled, '--job', '--max-iterations', '1', ...at]);
  const id = /^job (\S+)$/m.exec(stderr)?.[1] ?? '';
  const output = join(folder, 'fetched.obj');
  const fetched = await run(['job', 'fetch', id, tangled, '-o', output, ...at]);
  t.match(fetched.stdout, /tangled\.obj: .* after/);
  t.match(fetched.stdout, /pierces +14 in the start, \d+ in the answer/);
  t.match(fetched.stdout, /written +\S*fetched\.obj/);
  t.equal((await readMeshFile(output)).vertexCount, 18);
  const { status, stdout } = await run(['job', 'fetch', id, '--json', ...at]);
  t.equal(status, fetched.status);
  t.equal(status, JSON.parse(stdout).status === 'FREE' ? 0 : 1);
  t.equal((await run(['job', 'cancel', id, ...at])).status, 0);
});

t.test('a service untangles with the same numbers', async (t) => {
  const [here, there] = ['here.obj', 'there.obj'].map((name) => join(folder, name)) as [string, string];
  t.equal((await run(['untangle', tangled, '--layer', 'lower:upper', '-o', here])).status, 0);
  const remote = await run(['untangle', tangled, '--layer', 'lower:upper', '-o', there, ...at]);
  t.equal(remote.status, 0, remote.stderr);
  t.equal(readFileSync(there, 'utf8'), readFileSync(here, 'utf8'));
});
