import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';

const RECORD = 'two-spheres-small.jsonl.gz';
const marked = (name: string): string => `<!-- generated: ${name} -->\n<!-- end -->`;

t.test('the tables are written from the published records alone, before any scene was played here', async (t) => {
  const folder = t.testdir({ 'scenes.md': ['steps', 'contested'].map(marked).join('\n') });
  const results = join(folder, 'results');
  mkdirSync(join(results, 'records'), { recursive: true });
  cpSync(join(projectRoot, 'examples/solver/results/records', RECORD), join(results, 'records', RECORD));
  const document = join(folder, 'scenes.md');
  const options = ['--from', join(folder, 'scenes'), '--to', results, '--document', document];
  execFileSync(process.execPath, [join(projectRoot, 'dist/examples/solver/runner/publish.js'), ...options]);
  t.match(readFileSync(join(results, 'table.md'), 'utf8'), /two-spheres, small/);
  t.match(readFileSync(document, 'utf8'), /generated: steps -->\n\| scene [\s\S]*<!-- end -->/);
});
