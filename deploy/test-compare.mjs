/**
 * Makes tap's `same` and `strictSame` cheap for values that are equal. tap prints both values while it compares them,
 * which for large answers takes longer than computing them. Values that Node finds strictly equal, by type, prototype
 * and content, are equal for tap as well; all others go to tap, which then describes the difference.
 */
import { isDeepStrictEqual } from 'node:util';
import { Assertions } from '@tapjs/asserts';

for (const name of ['same', 'strictSame']) {
  const compare = Assertions.prototype[name];
  Assertions.prototype[name] = function (found, wanted, ...rest) {
    const isEqual = isDeepStrictEqual(found, wanted);
    return isEqual ? compare.call(this, true, true, ...rest) : compare.call(this, found, wanted, ...rest);
  };
}
