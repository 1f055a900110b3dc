import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { BrowserGuard, type BrowserRules } from '../../src/transport/browser-guard.js';

const KEYLESS: BrowserRules = { hosts: [], acceptsAddresses: false, origins: [], refusesOtherPages: true };

function verdict(rules: Partial<BrowserRules>, host: string | undefined, origin?: string): string {
  try {
    new BrowserGuard({ ...KEYLESS, ...rules }).check(host, origin);
    return 'served';
  } catch (thrown) {
    if (thrown instanceof IntersticeError) return thrown.code;
    throw thrown;
  }
}

t.test('only allowed hosts are accepted', async (t) => {
  const loopback = ['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.0.0.1:1', '127.9.8.7:8080', '[::1]', '[::1]:8080'];
  for (const host of loopback) t.equal(verdict({}, host), 'served', host);
  t.equal(verdict({}, undefined), 'served', 'HTTP/1.0 without a host');
  const strangers = [
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.evil.example:80',
    'localhost@evil.example',
    'user@localhost',
    'localhost:80:80',
    '::1',
    '[::1',
    '[::1].evil.example',
    '192.168.0.7',
    '1127.0.0.1',
    '0.0.0.0:8080',
    '[fe80::1]:8080',
    'localhost/',
    'local host',
    '',
    ':8080',
  ];
  for (const host of strangers) t.equal(verdict({}, host), 'PERMISSION_DENIED', JSON.stringify(host));
  const open = { acceptsAddresses: true };
  for (const host of ['192.168.0.7:8080', '[fe80::1]:8080']) t.equal(verdict(open, host), 'served', host);
  t.equal(verdict(open, 'evil.example'), 'PERMISSION_DENIED', 'an open service is called by address, not by any name');
  t.equal(verdict({ hosts: ['interstice'] }, 'Interstice:8080'), 'served');
  t.equal(verdict({ hosts: ['interstice'] }, 'sub.interstice'), 'PERMISSION_DENIED');
  t.equal(verdict({ hosts: ['*'] }, 'evil.example'), 'served');
  t.equal(verdict({ hosts: undefined }, 'evil.example'), 'served', 'names are not checked');
});

t.test('only allowed origins are accepted', async (t) => {
  const host = '127.0.0.1:8080';
  t.equal(verdict({}, host, 'http://127.0.0.1:8080'), 'served', 'the own page');
  t.equal(verdict({}, 'localhost', 'http://localhost'), 'served', 'without a port');
  t.equal(verdict({}, 'localhost:80', 'http://localhost'), 'served', 'the port of the scheme');
  t.equal(verdict({ hosts: ['x.example'] }, 'x.example', 'https://x.example'), 'served', 'behind a proxy with TLS');
  const strangers = [
    'http://evil.example',
    'http://127.0.0.1:3000',
    'http://localhost:8080',
    'https://127.0.0.1',
    'null',
    'file://',
    'chrome-extension://abc',
    '',
    'http://127.0.0.1:8080.evil.example',
  ];
  for (const origin of strangers) t.equal(verdict({}, host, origin), 'PERMISSION_DENIED', JSON.stringify(origin));
  const rules = { origins: ['https://app.example'] };
  t.equal(verdict(rules, host, 'https://app.example'), 'served');
  t.equal(verdict(rules, host, 'https://app.example.evil'), 'PERMISSION_DENIED');
  t.equal(verdict({ origins: ['*'] }, host, 'null'), 'served');
  t.equal(verdict({ refusesOtherPages: false }, host, 'https://evil.example'), 'served', 'where a key protects');
  t.equal(
    verdict({ origins: ['*'] }, 'evil.example', 'http://evil.example'),
    'PERMISSION_DENIED',
    'CORS opens no host',
  );
});

t.test('the refusal names the host, shortened, and the setting', async (t) => {
  const guard = new BrowserGuard(KEYLESS);
  t.throws(() => guard.check('x'.repeat(5000), undefined), {
    message: /^.{50,200}$/,
    hint: /INTERSTICE_ALLOWED_HOSTS/,
  });
  t.throws(() => guard.check('localhost', 'http://x.example'), {
    message: /x\.example/,
    hint: /INTERSTICE_CORS_ORIGINS/,
  });
});
