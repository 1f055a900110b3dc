import { Command } from 'commander';
import t from 'tap';
import { localConfig, readSettings } from '../../src/cli/local.js';
import { addServeFlags, pickSettings } from '../../src/cli/serve-flags.js';
import { SETTINGS } from '../../src/config/settings.js';

function command(): Command {
  const serve = new Command('serve').exitOverride().configureOutput({ writeErr: () => {} });
  addServeFlags(serve);
  return serve;
}

const parse = (...argv: string[]): Record<string, string> =>
  pickSettings(command().parse(argv, { from: 'user' }).opts());

t.test('flags set the variables of the same name', async (t) => {
  t.strictSame(parse(), {});
  t.strictSame(parse('--host', '127.0.0.2', '--http-port', '0', '--engine', 'cpu', '--threads', '3'), {
    INTERSTICE_HOST: '127.0.0.2',
    INTERSTICE_HTTP_PORT: '0',
    INTERSTICE_ENGINE: 'cpu',
    INTERSTICE_THREADS: '3',
  });
  t.strictSame(parse('--insecure', '--allow-unverified'), {
    INTERSTICE_ALLOW_UNVERIFIED: '1',
    INTERSTICE_INSECURE: '1',
  });
});

t.test('the help names every flag with its variable and its default', async (t) => {
  const text = command().helpInformation().replace(/\s+/g, ' ');
  for (const setting of [SETTINGS.host, SETTINGS.httpPort, SETTINGS.engine, SETTINGS.maxVertices, SETTINGS.logLevel]) {
    t.match(text, `[${setting.name}]`);
    t.match(text, `default: ${setting.default}`);
  }
  t.match(text, '--grpc-port <N>');
  t.match(text, /--admin-port <N> [^[]*\(port 0 to 65535, or off; default: 9090\)/);
  t.match(text, /--max-device-bytes <N> [^[]*bytes, or auto; default: auto\)/);
  t.match(text, '--insecure Allows');
  t.match(text, '--store <TEXT>');
});

t.test('flags win over the environment', async (t) => {
  const config = readSettings(
    { INTERSTICE_HTTP_PORT: '1', INTERSTICE_HOST: '::1' },
    { INTERSTICE_HTTP_PORT: '2' },
    'serve',
  );
  t.equal(config.httpPort, 2);
  t.equal(config.host, '::1');
});

t.test('a wrong setting is a mistake of the command line', async (t) => {
  t.throws(() => readSettings({ INTERSTICE_THREADS: 'many', INTERSTICE_ENGINE: 'steam' }, {}, 'serve'), {
    name: 'UsageError',
    command: 'serve',
    message: /INTERSTICE_ENGINE[\s\S]*INTERSTICE_THREADS/,
  });
});

t.test('one run takes one thread and is not stopped by settings of the service', async (t) => {
  t.equal(localConfig({ INTERSTICE_HTTP_PORT: 'x', INTERSTICE_HOST: '0.0.0.0' }, {}).threads, 1);
  t.equal(localConfig({ INTERSTICE_THREADS: '5' }, {}).threads, 5);
  t.equal(localConfig({ INTERSTICE_THREADS: '5' }, { threads: 2 }).threads, 2);
  t.equal(localConfig({ INTERSTICE_ENGINE: 'webgpu' }, { engine: 'cpu' }).engine, 'cpu');
  t.equal(localConfig({ INTERSTICE_MAX_VERTICES: '10' }, {}).limits.maxVertices, 10);
  t.equal(localConfig({ INTERSTICE_MAX_MESSAGE_BYTES: '500000000' }, {}).limits.maxMessageBytes, 500_000_000);
  t.throws(() => localConfig({}, { threads: 0 }), { name: 'UsageError', message: /INTERSTICE_THREADS/ });
});
