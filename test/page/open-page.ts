import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { readConfig } from '../../src/config/config.js';
import type { Operations } from '../../src/contract/operations.js';
import { startServer } from '../../src/server/server.js';
import { openOperations } from '../conformance/run.js';
import { ensurePage } from '../support/built-page.js';
import { openBrowser, type TabOptions } from '../support/chromium.js';

/** What the tests of the page have in common: a real service with the CPU engine, a browser, and files to open. */

export const fileOf = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

/** Two squares, one above the other, z up. */
export const squares = (low: number, high: number): string => {
  const square = (z: number) => ['0 0', '1 0', '1 1', '0 1'].map((xy) => `v ${xy} ${z}\n`).join('');
  return `${square(low)}${square(high)}f 1 2 3\nf 1 3 4\nf 5 6 7\nf 5 7 8\n`;
};

/** How a page is sent a refusal of the service in place of its answer, as `Route.fulfill` takes it. */
export const refusal = (status: number, code: string, message: string) => ({
  status,
  json: { type: `urn:interstice:error:${code}`, code, message, hint: '' },
});

/** Waits for an answer of the service and for the check of the target that follows it. */
export async function untilAnswered(page: Page): Promise<void> {
  await page.waitForSelector('#field option[value="intersections"]', { state: 'attached' });
}

export const resolve = (page: Page) => page.getByRole('button', { name: 'Resolve', exact: true }).click();

/**
 * Two squares, of which the far corner of the upper one hangs through the lower one.
 *
 * @param closes whether the message that says so is closed
 */
export async function openTangled(page: Page, closes = true): Promise<void> {
  const pierced = squares(0, 0.5).replace('v 1 1 0.5', 'v 0.7 0.6 -0.2');
  await page.setInputFiles('#files', [fileOf('tangled.obj', pierced), fileOf('target.obj', squares(0, 0.5))]);
  await resolve(page);
  await page.waitForSelector('#problem:not([hidden])');
  if (closes) await page.click('#problem-close');
}

/** Chooses a format, saves the answer and reads what the browser has got. */
export const saveAs = async (page: Page, format: string): Promise<Buffer> => {
  await page.selectOption('#save-format', format);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save answer' }).click();
  return readFileSync(await (await download).path());
};

/** The text of an element once it has this word: the page reads files, and asks the service, while the test goes on. */
export const textOnce = async (page: Page, selector: string, word: string): Promise<string> => {
  await page.waitForSelector(`${selector}:has-text("${word}")`, { state: 'attached' });
  return (await page.textContent(selector)) ?? '';
};

export interface PageService {
  readonly operations: Operations;
  readonly address: string;
  /** A tab on an address, default the service; its errors fail the test, only refusals of the service, which the page says itself, do not. */
  open(t: Test, options?: TabOptions, address?: string): Promise<Page>;
}

/** Closed with the test. */
export async function openPageService(t: Test): Promise<PageService> {
  await ensurePage();
  const off = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
  const operations = await openOperations(t);
  const server = await startServer(readConfig(off), operations, {
    log: pino({ level: 'silent' }),
    handleSignals: false,
  });
  t.teardown(() => server.close());
  const openTab = await openBrowser(t);
  const open = async (t: Test, options: TabOptions = {}, address = server.address): Promise<Page> => {
    const page = await openTab(t, { viewport: { width: 1100, height: 720 }, ...options });
    page.on('pageerror', (error) => t.fail(`an error in the page: ${error.stack}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) t.fail(`console: ${message.text()}`);
    });
    await page.goto(address);
    return page;
  };
  return { operations, address: server.address, open };
}
