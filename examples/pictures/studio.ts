import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { projectRoot } from '../../src/paths.js';
import { launchChromium } from './browser.js';
import { type Sheet, sizeOf } from './sheet.js';

const SOURCE = join(projectRoot, 'examples', 'pictures', 'page', 'main.ts');

const STYLE = `
  body { margin: 0; background: white; }
  #sheet { display: grid; }
  #sheet h2 {
    margin: 0; display: grid; place-items: center; color: #3e444e;
    font: 500 16px/1 Inter, 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif; letter-spacing: 0.1em; text-transform: uppercase;
  }
  #sheet canvas { display: block; }`;

/** What the script of the page defines. */
interface Drawing {
  readonly drawSheet: (sheet: Sheet) => void;
}

/** Draws pictures by three.js, in a browser without a window. */
export class Studio {
  private constructor(
    private readonly browser: Browser,
    private readonly page: Page,
  ) {}

  /** @throws MissingBrowserError */
  static async open(): Promise<Studio> {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.setContent(`<!doctype html><meta charset="utf-8"><style>${STYLE}</style><div id="sheet"></div>`);
      await page.addScriptTag({ content: await bundle() });
      return new Studio(browser, page);
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** @returns a PNG of the size that `sizeOf` says */
  async draw(sheet: Sheet): Promise<Buffer> {
    await this.page.setViewportSize(sizeOf(sheet));
    await this.page.evaluate((what) => (globalThis as unknown as Drawing).drawSheet(what), sheet);
    return this.page.screenshot({ type: 'png', timeout: 0 });
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** One sheet, in a browser of its own. @throws MissingBrowserError */
export async function drawSheet(sheet: Sheet): Promise<Buffer> {
  const studio = await Studio.open();
  try {
    return await studio.draw(sheet);
  } finally {
    await studio.close();
  }
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [SOURCE],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    platform: 'browser',
    logLevel: 'warning',
  });
  return outputFiles[0]!.text;
}
