import t from 'tap';
import { coreWaitMs } from '../../src/lanes/core-wait.js';

t.test('the measured time without a core never decreases', { skip: process.platform !== 'linux' }, async (t) => {
  const first = coreWaitMs();
  t.type(first, 'number');
  for (let k = 0; k < 5; k++) await new Promise(setImmediate);
  t.ok(coreWaitMs()! >= first!);
});
