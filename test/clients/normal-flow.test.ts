import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';
import { openService } from './service.js';

t.test('the example of a normal flow reaches what its shape allows, in both directions', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const program = join(projectRoot, 'clients', 'typescript', 'normal-flow.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [program, service.url]);
  const lines = [...stdout.matchAll(/^asked for (\S+), reached (\S+) on average, smallest gap (\S+)$/gm)];
  t.strictSame(
    lines.map(([, asked]) => asked),
    ['0.8', '-0.5'],
  );
  const [outwards, inwards] = lines.map(([, , reached]) => Number(reached));
  t.ok(outwards! > 0.2 && outwards! < 0.8, 'the hole is narrower than asked for');
  t.ok(inwards! < -0.05 && inwards! > -0.5, 'so is the tube');
  t.ok(lines.every(([, , , gap]) => Number(gap) > 0));
});
