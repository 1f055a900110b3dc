/** Counts the TAP output of test files: of a file with its own process, or of several that share one. */
import { Parser } from 'tap-parser';

/** Names of assertions with which deploy/test-together.mjs reports its progress. They are not counted. */
export const BARRIER = '(all tests of the file are over)';
export const END = '(end of the file)';

export const emptyTally = () => ({ passed: 0, failed: 0, skipped: 0, failures: [], skips: [] });

/**
 * Counts assertions at any depth; a subtest's own line only sums up the assertions inside it.
 *
 * @param current returns the tally to count in now
 * @param onEnd receives the text after END
 * @param onAssert receives the title of each assertion
 */
export function makeParser(current, onEnd = () => undefined, onAssert = () => undefined) {
  const parser = new Parser();
  const names = [];
  const count = (node, result, isSummary) => {
    const tally = current();
    const path = [...names, result.name].filter(Boolean).join(' > ');
    if (result.skip) {
      tally.skipped += 1;
      tally.skips.push(`${path}${typeof result.skip === 'string' ? `: ${result.skip}` : ''}`);
    } else if (result.todo) {
      tally.failed += 1; // unfinished work is not a pass
      tally.failures.push({ path: `${path} (todo)`, diag: undefined });
    } else if (result.ok) {
      if (!isSummary) tally.passed += 1;
    } else if (!isSummary || node.childWasClean) {
      tally.failed += 1;
      tally.failures.push({ path, diag: result.diag });
    }
  };
  const watch = (node) => {
    node.on('assert', (result) => {
      const isSummary = node.sawChild === true;
      if (!isSummary) onAssert(result.name);
      node.sawChild = false;
      if (node === parser && result.name === BARRIER && result.ok) return;
      if (node === parser && result.name.startsWith(END)) onEnd(result.name.slice(END.length).trim());
      else count(node, result, isSummary);
    });
    node.on('child', (child) => {
      const before = current().failed;
      names.push(child.name);
      watch(child);
      child.on('complete', () => {
        names.pop();
        node.sawChild = true;
        node.childWasClean = current().failed === before;
      });
    });
  };
  watch(parser);
  return parser;
}
