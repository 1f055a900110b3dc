import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';
import { openService } from './service.js';

const execute = promisify(execFile);
const folder = join(projectRoot, 'clients', 'blender');

const works = (command: string, ...args: string[]) =>
  execute(command, args).then(
    () => true,
    () => false,
  );
const isRequired = process.env.INTERSTICE_REQUIRE_BLENDER === '1';
const hasBlender = isRequired || (await works('blender', '--version'));
let python: string | undefined;
for (const name of ['python3', '/usr/bin/python3']) {
  if (!python && (await works(name, '-c', 'import numpy'))) python = name;
}

t.test(
  'the modules of the add-on that do not need Blender work without it',
  { skip: python ? false : 'no python3 with numpy' },
  async (t) => {
    const service = await openService();
    t.teardown(() => service.close());
    const { stdout } = await execute(python!, [join(folder, 'test_parts.py'), service.url]);
    t.match(stdout, /^[1-9]\d* passed, 0 failed$/m, stdout);
  },
);

t.test(
  'the packed add-on in a real Blender, judged by the command line',
  { skip: hasBlender ? false : 'Blender is not installed (deploy/install-blender.sh)' },
  async (t) => {
    const service = await openService();
    t.teardown(() => service.close());
    const out = t.testdir({ config: {}, scripts: {} });
    const archive = join(out, 'interstice_blender.zip');
    await execute(join(folder, 'package.sh'), [archive]);
    const args = ['-b', '--factory-startup', '--python-exit-code', '1', '--python', join(folder, 'test_blender.py')];
    const env = {
      ...process.env,
      BLENDER_USER_SCRIPTS: join(out, 'scripts'),
      BLENDER_USER_CONFIG: join(out, 'config'),
    };
    const run = execute('blender', [...args, '--', archive, service.url, out], { env, maxBuffer: 1 << 24 });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    t.match(stdout, /^[1-9]\d* passed, 0 failed$/m, stdout);
    const program = join(projectRoot, 'dist', 'src', 'cli', 'main.js');
    for (const name of ['start', 'shape-key', 'frame-1', 'frame-2', 'frame-3', 'frame-4']) {
      const isFree = await works(process.execPath, program, 'check', join(out, `${name}.obj`), '--quiet');
      t.ok(isFree, `${name} is free of intersections`);
    }
  },
);
