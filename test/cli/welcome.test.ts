import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import {
  displayPath,
  exampleCommand,
  quotePath,
  quoteWord,
  reachable,
  renderFacts,
  renderWelcome,
} from '../../src/cli/welcome.js';

const pair = { 'start.obj': '', 'target.obj': '', 'options.json': '{}' };

t.test('a quoted word survives the shell unchanged', async (t) => {
  for (const word of ['plain', 'a b', "it's", '$HOME', 'a;b', 'x=<y', '`id`', 'ö', '']) {
    t.equal(execFileSync('sh', ['-c', `printf %s ${quoteWord(word)}`], { encoding: 'utf8' }), word, word);
  }
  t.equal(quoteWord('start=@examples/a.obj'), 'start=@examples/a.obj', 'no quotes where none are needed');
  t.equal(quotePath('-a b.obj'), "'./-a b.obj'", 'no file is an option');
  t.equal(quotePath('a.obj'), 'a.obj');
});

t.test('the command posts the pair with paths from the current folder', async (t) => {
  const root = t.testdir({ examples: { pairs: { layers: pair } } });
  const command = exampleCommand('http://127.0.0.1:8080', root, root);
  t.equal(
    command,
    "curl -sS -D - -o answer.obj -F start=@examples/pairs/layers/start.obj -F target=@examples/pairs/layers/target.obj -F 'options=<examples/pairs/layers/options.json' http://127.0.0.1:8080/v1/resolve",
  );
  t.match(exampleCommand('http://127.0.0.1:8080', join(root, 'examples'), root), /start=@pairs\/layers/);
  const keyed = exampleCommand('http://127.0.0.1:8080', root, root, true);
  t.match(keyed, / -o answer\.obj -H 'authorization: Bearer YOUR_KEY' -F start=/);
});

t.test('a path that curl or the shell would misread is quoted', async (t) => {
  const root = t.testdir({ 'a b;c': { examples: { pairs: { layers: pair } } } });
  const command = exampleCommand('http://h:1', root, join(root, 'a b;c')) ?? '';
  const words = execFileSync('sh', ['-c', `for word in ${command}; do printf '%s\\n' "$word"; done`], {
    encoding: 'utf8',
  });
  t.match(words, '\nstart=@"a b;c/examples/pairs/layers/start.obj"\n');
});

t.test('without the examples there is no command', async (t) => {
  const root = t.testdir({ examples: { pairs: { layers: { 'start.obj': '' } } } });
  t.equal(exampleCommand('http://h:1', root, root), undefined);
});

t.test('a path is shown relative to the current folder only where that is shorter', async (t) => {
  t.equal(displayPath('/a/b/c.obj', '/a'), 'b/c.obj');
  t.equal(displayPath('/a.obj', '/x/y/z'), '/a.obj');
});

t.test('a wildcard address is shown as one that can be connected to', async (t) => {
  t.equal(reachable('http://0.0.0.0:8080'), 'http://127.0.0.1:8080');
  t.equal(reachable('http://[::]:8080'), 'http://[::1]:8080');
  t.equal(reachable('http://10.0.0.0:8080'), 'http://10.0.0.0:8080');
});

t.test('a terminal gets the command on a line of its own, a pipe gets one fact per line', async (t) => {
  const facts = { address: 'http://127.0.0.1:8080', engine: 'cpu', command: 'curl x' };
  const lines = renderWelcome(facts).split('\n');
  t.ok(lines.includes('curl x'));
  t.ok(lines.includes('  address    http://127.0.0.1:8080'));
  t.ok(lines.includes('  engine     cpu'));
  t.equal(renderFacts(facts), 'address http://127.0.0.1:8080\nengine cpu\ntry curl x\n');
  t.match(renderWelcome({ ...facts, needsKey: true }), /YOUR_KEY \(interstice key/);
  t.notMatch(renderWelcome(facts), /key/i);
  t.match(renderWelcome({ ...facts, command: undefined }), /examples? pairs are not installed|example pairs/);
  t.equal(renderFacts({ ...facts, command: undefined }), 'address http://127.0.0.1:8080\nengine cpu\n');
});
