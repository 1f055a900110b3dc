import { FLOOR, MEETING, type Mutant, PATH, TUNNEL } from './mutants.js';
import type { Edit } from './planting.js';

/*
 * The same faults in the kernels. The engine tries its adapter before it takes requests, and would refuse to start with
 * most of them; that it would is tested elsewhere (test/gpu), so it is made to look away here.
 */

const MUTED_PROOF: Edit = {
  file: 'gpu/engine.js',
  search: 'if (objection === undefined)',
  replacement: 'if (true)',
};

const noCheck: Edit = {
  file: 'gpu/kernels/check.wgsl',
  search: 'if (!holds) {',
  replacement: 'if (!holds && false) {',
};

const mutant = (
  name: string,
  fault: string,
  edits: readonly Edit[],
  scenes: readonly string[],
  caughtBy: readonly string[],
): Mutant => ({ name, fault, edits: [...edits, MUTED_PROOF], scenes, caughtBy, engine: 'webgpu' });

export const GPU_MUTANTS: readonly Mutant[] = [
  mutant(
    'kernel-no-bound-no-check',
    'pairs neither bound a step nor is it checked',
    [noCheck, { file: 'gpu/kernels/bound.wgsl', search: 'if (bound < 1.0) {', replacement: 'if (bound < -1.0) {' }],
    ['layers', 'sandInABag'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-double-budget-no-check',
    'either side of a pair may use up far more than the gap',
    [
      noCheck,
      {
        file: 'gpu/kernels/bound.wgsl',
        search: 'return budget / approach;',
        replacement: 'return min(1.0, 2.5 * budget / approach);',
      },
    ],
    ['matryoshka', 'layers', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-dropped-pairs',
    'the search loses every third pair that it finds',
    [
      {
        file: 'gpu/kernels/walk-pairs.wgsl',
        search: 'fn sharesVertex(v: vec4u) -> bool {',
        replacement:
          'fn sharesVertex(v: vec4u) -> bool {\n  if ((v.x + v.y + v.z) % 3u == 0u) {\n    return true;\n  }',
      },
    ],
    ['layers', 'sandInABag', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-low-floor',
    'steps are bounded and checked against a tenth of the floor',
    [
      {
        file: 'gpu/kernels/bound.wgsl',
        search: 'let room = max(0.0, gap - parameters.floor);',
        replacement: 'let room = max(0.0, gap - 0.1 * parameters.floor);',
      },
      {
        file: 'gpu/kernels/bound.wgsl',
        search: 'min(gap, parameters.floor) - 0.5 * parameters.floor',
        replacement: 'min(gap, 0.1 * parameters.floor) - 0.05 * parameters.floor',
      },
    ],
    ['soup', 'layers', 'spike', 'matryoshka'],
    [FLOOR, MEETING],
  ),
  mutant(
    'kernel-boxes-not-kept',
    'vertices leave their trust boxes, so that pairs outside P can meet',
    [
      {
        file: 'gpu/kernels/commit.wgsl',
        search: '(parameters.hasBoxes == 1u && !isInBox(i, written))',
        replacement: '(parameters.hasBoxes == 2u && !isInBox(i, written))',
      },
      {
        file: 'gpu/kernels/guard.wgsl',
        search: 'let q = 6u * i;',
        replacement: 'let q = 6u * i;\n      motion[i].guard = box[q];',
      },
      {
        file: 'gpu/kernels/guard.wgsl',
        search: 'alpha = min(alpha, boxShare(here.z, to.z, box[q + 2u], box[q + 5u]));',
        replacement: 'alpha = 1.0;',
      },
    ],
    ['soup', 'sandInABag', 'layers'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
  mutant(
    'kernel-commit-ignores-check',
    'a step that its check sends back is taken all the same, and its bound is too long',
    [
      {
        file: 'gpu/kernels/commit.wgsl',
        search: '(flags & REVERTED) != 0u ||',
        replacement: '(flags & REVERTED) == 0xffffffffu ||',
      },
      {
        file: 'gpu/kernels/bound.wgsl',
        search: 'return budget / approach;',
        replacement: 'return min(1.0, 2.5 * budget / approach);',
      },
    ],
    ['matryoshka', 'layers', 'soup'],
    [MEETING, TUNNEL, FLOOR, PATH],
  ),
];
