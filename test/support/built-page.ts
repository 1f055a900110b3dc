import { join } from 'node:path';
import { projectRoot } from '../../src/paths.js';

/** Bundles the page if it is not up to date; npm test has done so already. */
export async function ensurePage(): Promise<void> {
  const { buildPage } = (await import(join(projectRoot, 'deploy', 'page.mjs'))) as { buildPage(): Promise<boolean> };
  await buildPage();
}
