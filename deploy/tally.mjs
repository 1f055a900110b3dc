/** The output of the test programs of this folder: one line per check, and finally `N passed, N failed, N skipped`. */

/** @param name of the program, before each line */
export function openTally(name) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  return {
    get hasFailed() {
      return total.failed > 0;
    },
    /**
     * @param detail shown if the check fails
     * @returns whether it passed
     */
    check(isRight, what, detail = '') {
      total[isRight ? 'passed' : 'failed'] += 1;
      const reason = isRight || detail === '' ? '' : `\n${detail}`;
      process.stdout.write(`${isRight ? ' ok ' : 'FAIL'}  ${name}: ${what}${reason}\n`);
      return isRight;
    },
    skip(what, reason) {
      total.skipped += 1;
      process.stdout.write(`skip  ${name}: ${what}: ${reason}\n`);
    },
    /** Counts what another program has checked. @param counts passed, failed and skipped */
    add(counts) {
      for (const kind of Object.keys(total)) total[kind] += counts[kind];
    },
    end() {
      process.exitCode = total.failed === 0 ? 0 : 1;
      process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
    },
  };
}
