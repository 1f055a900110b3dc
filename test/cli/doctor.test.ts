import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readMeshFile } from '../../src/mesh/files/index.js';
import { projectRoot } from '../../src/paths.js';
import { shareOf } from '../support/share.js';
import { run } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'interstice-doctor-'));
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const well = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n';
const panels = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 4 6 5\n';

t.test('a mesh without problems is reported as such', async (t) => {
  const { status, stdout } = await run(['doctor', write('well.obj', well)]);
  t.equal(status, 0, stdout);
  t.match(stdout, /well\.obj \(3 vertices\) is accepted as a start: 0 problems, 0 warnings/);
  t.match(stdout, /lengths +δ 0\.1/);
});

t.test('the problems of a mesh that would be refused are reported as text and as JSON', async (t) => {
  const path = write('panels.obj', panels);
  const text = await run(['doctor', path]);
  t.equal(text.status, 1, text.stdout);
  t.match(text.stdout, /would be refused as a start/);
  t.match(text.stdout, /problem +\d+ pairs of elements intersect/);
  t.match(text.stdout, /at the place of another/);
  const json = await run(['doctor', path, '--json', '--max-elements', '1']);
  t.equal(json.status, 1);
  const answer = JSON.parse(json.stdout);
  t.match(answer, { accepted: false, regionCount: '1', findings: [{ severity: 'PROBLEM' }] });
  t.ok(answer.findings.every(({ elements }: { elements: unknown[] }) => elements.length <= 1));
});

t.test(
  'a file that cannot be read as a mesh is refused as everywhere, with its line and one way of counting',
  async (t) => {
    const { status, stderr } = await run(['doctor', write('unknown.obj', `${well}f 1 2 9\n`)]);
    t.equal(status, 3);
    t.match(stderr, /Line 5: face 1 refers to vertex 9, but the file has 3 vertices \(counting from 1\)/);
    t.notMatch(stderr, /Vertex ids start at 0/);
  },
);

t.test('welded panels are written with their ids, and accepted', async (t) => {
  const output = join(folder, 'welded.obj');
  const path = write('panels.obj', panels);
  const { stdout } = await run(['doctor', path, '--weld-to', output]);
  t.match(stdout, /2 vertices welded\. It is accepted\./);
  t.match(await run(['doctor', path, '--weld', output]), { status: 2, stderr: /unknown option '--weld'/ });
  const mesh = await readMeshFile(output);
  t.equal(mesh.vertexCount, 6);
  t.same([...mesh.triangles], [0, 1, 2, 1, 5, 2]);
});

t.test('objects and groups of an OBJ are called by their names', async (t) => {
  const sheet = (z: number) => `v 0 0 ${z}\nv 1 0 ${z}\nv 0 1 ${z}\n`;
  const named = `o shirt\n${sheet(0)}f 1 2 3\ng coat left\n${sheet(0.1)}f 4/1 5/2 6/3\nf -3 -2 -1\n`;
  const { stdout } = await run(['doctor', write('named.obj', named.replace('f -3 -2 -1\n', ''))]);
  t.match(stdout, /parts +shirt: 3 vertices; coat: 3 vertices/);
  const shared = await run([
    'doctor',
    write('shared.obj', `${sheet(0)}g a\nf 1 2 3\n${sheet(1)}g b\nf 4 5 3\nf 4 5 6\n`),
  ]);
  t.notMatch(shared.stdout, /parts +a:/, 'a vertex of two groups: no parts');
});

t.test('--picture draws the findings', async (t) => {
  const output = join(folder, 'picture.png');
  const { status } = await run(['doctor', write('panels.obj', panels), '--picture', output]);
  t.equal(status, 1);
  const png = readFileSync(output);
  t.same([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  t.ok(png.length > 1000);
});

t.test('mistakes on the command line are refused', async (t) => {
  const path = write('well.obj', well);
  t.equal((await run(['doctor', path, '--weld-to', path])).status, 2);
  t.equal((await run(['doctor', path, '--weld-to', 'a.glb'])).status, 2);
  t.equal((await run(['doctor', path, '--picture', 'a.jpg'])).status, 2);
  t.equal((await run(['doctor', path, '--sew-to', 'a.obj', '--distance', '0'])).status, 2);
  t.match(await run(['doctor', path, '--distance', '1']), { status: 2, stderr: /--distance is for --weld-to/ });
  t.match(await run(['doctor', path, '--kinematic-from', '9999']), { status: 3, stderr: /--kinematic-from is 9999/ });
  t.equal((await run(['doctor', join(folder, 'none.obj')])).status, 2);
});

t.test('the examples have no problem, and no warning but of a target that stretches', async (t) => {
  for (const name of shareOf(['hair', 'layers', 'sand', 'sleeve', 'solid', 'spike'], 3)) {
    const at = (state: string): string => join(projectRoot, 'examples', 'pairs', name, `${state}.obj`);
    const { status, stdout } = await run(['doctor', at('start'), at('target'), '--json']);
    t.equal(status, 0, name);
    const findings: { severity: string; code: string }[] = JSON.parse(stdout).findings;
    t.same(
      findings.filter(({ severity, code }) => severity !== 'NOTE' && code !== 'TARGET_STRETCHED'),
      [],
      name,
    );
  }
});

const data = process.env.INTERSTICE_DATA;
t.test(
  'real meshes that are free of intersections have no problem',
  { skip: data ? false : 'INTERSTICE_DATA' },
  async (t) => {
    for (const path of shareOf(['static/bunny.ply', 'static/spot.obj', 'thick_cloth/x.ply', 'dress/x.obj'], 2)) {
      const { status, stdout } = await run(['doctor', join(data!, path), '--json']);
      t.equal(status, 0, `${path}: ${stdout.slice(0, 300)}`);
    }
    const { status, stdout } = await run(['doctor', join(data!, 'static/two-cubes-intersecting.ply'), '--json']);
    t.equal(status, 1);
    t.match(JSON.parse(stdout), { accepted: false, regionCount: '1', regions: [{ contour: 'CLOSED' }] });
  },
);
