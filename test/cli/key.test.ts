import t from 'tap';
import { parseKeys } from '../../src/transport/auth/key-file.js';
import { run } from './in-process.js';

t.test('a new key is printed with its line for the key file', async (t) => {
  const { status, stdout, stderr } = await run(['key', 'acme', '--priority', 'batch']);
  t.equal(status, 0);
  const [, key = '', line = ''] = /^key {3}(\S+)\nline {2}(\S+)\n$/.exec(stdout) ?? [];
  t.match(key, /^isk_/);
  t.match(parseKeys(line, 'keys'), [{ caller: { tenant: 'acme', maxPriority: 'BATCH' } }]);
  t.notOk(line.includes(key) || stderr.includes(key));
});

t.test('values that the key file cannot hold are refused', async (t) => {
  t.match(await run(['key', 'a:b']), {
    status: 2,
    stdout: '',
    stderr: /A tenant has 1 to 64 letters[\s\S]*See interstice key --help/,
  });
  t.match(await run(['key', 'acme', '--priority', 'urgent']), {
    status: 2,
    stdout: '',
    stderr: /--priority .*batch, normal, interactive/,
  });
  t.match(await run(['key']), { status: 2 });
});

t.test('serve --print-config writes what a settings file takes', async (t) => {
  const env = { INTERSTICE_HTTP_PORT: '1' };
  const { status, stdout } = await run(['serve', '--print-config', '--threads', '3'], { env });
  t.equal(status, 0);
  t.match(stdout, 'INTERSTICE_HTTP_PORT=1\n# from: environment\n');
  t.match(stdout, 'INTERSTICE_THREADS=3\n# from: flag\n');
  t.match(stdout, 'INTERSTICE_MAX_QUEUE=64\n# from: default\n');
  t.match(stdout, '# INTERSTICE_ADAPTER=\n');
  const path = `${t.testdir({ settings: stdout })}/settings`;
  const again = await run(['serve', '--print-config', '--config', path], { env: {} });
  t.match(again.stdout, 'INTERSTICE_THREADS=3\n# from: file\n');
  t.match(await run(['serve', '--print-config', '--http-port', 'x'], { env: {} }), { status: 2 });
});
