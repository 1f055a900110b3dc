import { join } from 'node:path';
import { writeWhole } from '../../../bench/whole-file.js';
import { MissingBrowserError } from '../../pictures/browser.js';
import type { Sheet } from '../../pictures/sheet.js';
import { drawSheet } from '../../pictures/studio.js';
import type { Model } from '../src/model.js';
import type { FrameCache } from './cache.js';
import { framesOfStrip, stripOf } from './picture.js';
import { makePlot } from './plot.js';
import { encodePly } from './ply.js';
import type { Played } from './records.js';

export interface OutputOptions {
  /** number in the strip of pictures; 0 = no strip */
  readonly pictures: number;
  readonly ply: boolean;
}

/** Writes plots, pictures and meshes of a played scene to its folder. */
export async function writeOutputs(
  played: Played,
  model: Model,
  cache: FrameCache,
  { pictures, ply }: OutputOptions,
): Promise<void> {
  if (played.records.length === 0) return;
  const at = (name: string): string => join(cache.folder, name);
  writeWhole(at('plot.svg'), makePlot(played));
  const last = cache.frameCount;
  if (pictures > 0) {
    const states = framesOfStrip(last, pictures).map((frame) => cache.read(frame));
    const strip = await drawIfPossible(stripOf(played.scene, model, states));
    if (strip) writeWhole(at('strip.png'), strip);
  }
  if (!ply) return;
  for (let frame = 0; frame <= last; frame++) {
    writeWhole(join(at('ply'), `${String(frame).padStart(5, '0')}.ply`), encodePly(model, cache.read(frame)));
  }
}

/** Without a browser, says what is missing and draws nothing, because the frames are kept and can be drawn later. */
async function drawIfPossible(sheet: Sheet): Promise<Buffer | undefined> {
  try {
    return await drawSheet(sheet);
  } catch (error) {
    if (!(error instanceof MissingBrowserError)) throw error;
    process.stderr.write(
      `No strip is drawn. ${error.message} The run of the scene with --frames 0 draws it afterwards.\n`,
    );
    return undefined;
  }
}
