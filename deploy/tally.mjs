/** What the test programs of this folder print: one line per check, and at the end `N passed, N failed, N skipped`. */

/** @param name of the program, before each line */
export function openTally(name) {
  let passed = 0;
  let failed = 0;
  return {
    get hasFailed() {
      return failed > 0;
    },
    /**
     * @param detail shown where the check fails
     * @returns whether it holds
     */
    check(isRight, what, detail = '') {
      if (isRight) passed += 1;
      else failed += 1;
      const reason = isRight || detail === '' ? '' : `\n${detail}`;
      process.stdout.write(`${isRight ? ' ok ' : 'FAIL'}  ${name}: ${what}${reason}\n`);
      return isRight;
    },
    end() {
      process.exitCode = failed === 0 ? 0 : 1;
      process.stdout.write(`${passed} passed, ${failed} failed, 0 skipped\n`);
    },
  };
}
