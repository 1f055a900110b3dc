import t from 'tap';
import { leftOf } from '../../../gpu/convoy/convoy.js';

t.test('After waiting for another submission, work waits only for the rest of the delay.', async (t) => {
  t.equal(leftOf(2, 100, 100), 2, 'recorded now');
  t.equal(leftOf(2, 100, 101.5), 0.5);
  t.equal(leftOf(2, 100, 150), 0, 'it has waited long enough already');
  t.equal(leftOf(0, 100, 100), 0);
});
