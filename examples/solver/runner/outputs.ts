import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../src/model.js';
import type { FrameCache } from './cache.js';
import { drawStrip, framesOfStrip } from './picture.js';
import { makePlot } from './plot.js';
import { encodePly } from './ply.js';
import type { Played } from './records.js';

export interface OutputOptions {
  /** in the strip of pictures; 0 = no strip */
  readonly pictures: number;
  readonly ply: boolean;
}

/** Writes plots, pictures and meshes of a scene that was played into its folder. */
export function writeOutputs(played: Played, model: Model, cache: FrameCache, { pictures, ply }: OutputOptions): void {
  if (played.records.length === 0) return;
  const at = (name: string): string => join(cache.folder, name);
  writeFileSync(at('plot.svg'), makePlot(played));
  const last = cache.frameCount;
  if (pictures > 0) {
    const states = framesOfStrip(last, pictures).map((frame) => cache.read(frame));
    writeFileSync(at('strip.png'), drawStrip(played.scene, model, states));
  }
  if (!ply) return;
  mkdirSync(at('ply'), { recursive: true });
  for (let frame = 0; frame <= last; frame++) {
    writeFileSync(join(at('ply'), `${String(frame).padStart(5, '0')}.ply`), encodePly(model, cache.read(frame)));
  }
}
