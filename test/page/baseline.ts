import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { projectRoot } from '../../src/paths.js';

/** The scene of two squares at their start, as it was when somebody looked at it. */
const BASELINE = join(projectRoot, 'test', 'page', 'squares.png');
/** Difference of a channel that an eye sees in an area, of 255; and the share of pixels that may have it: those along edges, which
 * other versions of the software renderer smooth otherwise. */
const SEEN_DIFFERENCE = 24;
const EDGE_SHARE = 0.02;

/** Compares the scene with the baseline, or writes that if INTERSTICE_UPDATE_BASELINE=1. */
export async function compareWithBaseline(t: Test, page: Page): Promise<void> {
  const picture = await page.evaluate<string>('interstice.explorer.stage.viewer.picture()');
  const [, data = ''] = picture.split(',');
  if (process.env.INTERSTICE_UPDATE_BASELINE === '1') writeFileSync(BASELINE, Buffer.from(data, 'base64'));
  const wanted = `data:image/png;base64,${readFileSync(BASELINE).toString('base64')}`;
  // On white, as the page may be of any colour behind the scene.
  const { share, painted } = await page.evaluate<{ share: number; painted: number }>(`(async () => {
    const pixels = async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext('2d');
      context.fillStyle = 'white';
      context.fillRect(0, 0, image.width, image.height);
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    };
    const [a, b] = [await pixels(${JSON.stringify(picture)}), await pixels(${JSON.stringify(wanted)})];
    if (a.length !== b.length) return { share: 1, painted: 0 };
    let [differing, painted] = [0, 0];
    for (let i = 0; i < a.length; i += 4) {
      if ([0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > ${SEEN_DIFFERENCE})) differing++;
      if (b[i] < 250 || b[i + 2] < 250) painted++;
    }
    return { share: differing / (a.length / 4), painted: painted / (a.length / 4) };
  })()`);
  t.ok(painted > 0.1, `the baseline shows something: ${painted}`);
  t.ok(share < EDGE_SHARE, `the scene looks as it did: ${share} of the pixels differ`);
}
