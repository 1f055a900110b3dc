import { BODY_COLOURS, OBSTACLE_COLOUR } from '../../src/page/colours.js';
import type { Scene } from '../scenes/types.js';
import { bodiesOf, joined, type Row, type Vec } from './sheet.js';

const COLOURS = { first: BODY_COLOURS[0]!, second: BODY_COLOURS[1]!, obstacle: OBSTACLE_COLOUR };

/** States of an example side by side. @param framed states that every panel shows completely */
export const sheetRow = (
  scene: Scene,
  states: readonly ArrayLike<number>[],
  framed: readonly ArrayLike<number>[],
  view: Vec,
): Row => ({
  bodies: bodiesOf(scene.bodies, scene, ({ role }) => COLOURS[role]),
  states: states.map((state) => Float32Array.from(state)),
  framed: joined(framed),
  view,
});
