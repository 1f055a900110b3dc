import { bodyThroughTube, cubes, pinched, sphereThrough } from './bodies.js';
import { foldAndCopy } from './folds.js';
import { crossingBorders, offsetCopy, pocket, pushedThrough, sewnPocket } from './sheets.js';
import type { TangleGroup } from './tangle.js';
import { collar, cuff, foldedCollar, selfCrossingSleeve } from './tubes.js';

export const TANGLES: readonly TangleGroup[] = [
  ...[0.5, 1, 3].flatMap((depth) => [pushedThrough(depth, 1), pushedThrough(depth, 3)]),
  crossingBorders(0.25, false),
  crossingBorders(0.25, true),
  crossingBorders(0.5, true),
  ...[0.5, 1].flatMap((depth) => [
    cuff(2, depth, false),
    cuff(2, depth, true),
    cuff(3, depth, false),
    cuff(3, depth, true),
  ]),
  ...[0.2, 0.4].flatMap((share) => [sphereThrough(share, false), sphereThrough(share, true)]),
  ...[0.3, 1].map(bodyThroughTube),
  ...[0.3, 0.5].map(pinched),
  pocket(),
  sewnPocket(),
  collar(),
  foldedCollar(),
  cuff(4, 1, true),
  ...[0.5, 1].map(selfCrossingSleeve),
  ...[1, 2].map(cubes),
  offsetCopy(),
  foldAndCopy(0.7),
];
