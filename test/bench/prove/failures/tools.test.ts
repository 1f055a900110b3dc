import t from 'tap';
import { describeThrown } from '../../../../bench/prove/failures/tools.js';
import { projectRoot } from '../../../../src/paths.js';

t.test('an error is described without the folder of the project', async (t) => {
  const text = describeThrown(new Error('the server is gone'));
  t.match(text, /the server is gone\n/);
  t.match(text, /failures\/tools\.test/);
  t.notOk(text.includes(projectRoot));
  t.equal(describeThrown('a word'), 'a word');
});
