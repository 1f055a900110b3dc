/** The output of the test programs of this folder: one line per check, and finally `N passed, N failed, N skipped`. */

/** @param name of the program, before each line */
export function openTally(name) {
  let passed = 0;
  let failed = 0;
  return {
    get hasFailed() {
      return failed > 0;
    },
    /**
     * @param detail shown if the check fails
     * @returns whether it passed
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
