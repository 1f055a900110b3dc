import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';
import { findChromium, launchChromium } from '../../examples/pictures/browser.js';

/** For tap's `skip`: why there is no browser here. */
export const skipWithoutChromium: string | false =
  findChromium() !== undefined || process.env.INTERSTICE_REQUIRE_BROWSER === '1'
    ? false
    : 'no Chromium; deploy/install-browser.sh installs it';

/** ms for whatever a page is to show: a busy machine takes long, and the limit of the test file ends what hangs */
export const PATIENCE_MS = 240_000;

export type TabOptions = BrowserContextOptions;

export interface BrowserOptions {
  /** names that resolve to 127.0.0.1, as an attacker's name server would say */
  readonly hosts?: readonly string[];
}

/**
 * A browser without a window, closed with the test.
 *
 * @returns opens a tab with storage of its own, closed with its test
 */
export async function openBrowser(
  t: Test,
  { hosts = [] }: BrowserOptions = {},
): Promise<(t: Test, options?: TabOptions) => Promise<Page>> {
  const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(', ');
  const browser = await launchChromium(rules ? [`--host-resolver-rules=${rules}`] : []);
  t.teardown(() => browser.close());
  return async (t, options = {}) => {
    const context = await browser.newContext(options);
    t.teardown(() => context.close());
    context.setDefaultTimeout(PATIENCE_MS);
    return context.newPage();
  };
}

/** A tab of a browser of its own. */
export const openTab = async (t: Test, options: BrowserOptions = {}): Promise<Page> =>
  (await openBrowser(t, options))(t);
