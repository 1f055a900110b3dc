import { spawnSync } from 'node:child_process';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim())
  .find((path) => path);

/** For tap's `skip`: why there is no browser here. */
export const skipWithoutChromium: string | false =
  PROGRAM !== undefined || process.env.INTERSTICE_REQUIRE_BROWSER === '1'
    ? false
    : 'no Chromium; deploy/install-browser.sh installs it';

const FLAGS = [
  // The tests may run as root; they load pages of their own only.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  // WebGL in software, which is the same on every machine.
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];

/** ms for a browser to start and for whatever a page is to show: a busy machine takes long, and the limit of the test file ends what hangs */
export const PATIENCE_MS = 240_000;

export type TabOptions = BrowserContextOptions;

export interface BrowserOptions {
  /** names that resolve to 127.0.0.1, as an attacker's name server would say */
  readonly hosts?: readonly string[];
}

/** A browser without a window. @throws Error where there is none */
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  if (PROGRAM === undefined) throw new Error('There is no Chromium; deploy/install-browser.sh installs it.');
  return chromium.launch({ executablePath: PROGRAM, args: [...FLAGS, ...flags], timeout: PATIENCE_MS });
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
