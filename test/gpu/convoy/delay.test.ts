import t from 'tap';
import { leftOf } from '../../../gpu/convoy/convoy.js';

t.test('What has waited behind another submission waits only for what is left of the delay.', async (t) => {
  t.equal(leftOf(2, 100, 100), 2, 'recorded now');
  t.equal(leftOf(2, 100, 101.5), 0.5);
  t.equal(leftOf(2, 100, 150), 0, 'it has waited for longer already');
  t.equal(leftOf(0, 100, 100), 0);
});
