import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

/** There is no browser on this machine. */
export class MissingBrowserError extends Error {
  constructor() {
    super('There is no Chromium; deploy/install-browser.sh installs it.');
  }
}

/** Where the program is; undefined where there is none. */
export const findChromium = (): string | undefined =>
  ['chromium', 'chromium-browser', 'google-chrome']
    .map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim())
    .find((path) => path);

const FLAGS = [
  // It may run as root, and loads pages of this repository only.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  // WebGL in software, which is the same on every machine.
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];

/** ms for a browser to start: a busy machine takes long */
const START_MS = 240_000;

/** A browser without a window. @throws MissingBrowserError */
export async function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  const program = findChromium();
  if (program === undefined) throw new MissingBrowserError();
  return chromium.launch({ executablePath: program, args: [...FLAGS, ...flags], timeout: START_MS });
}
