import { FLOOR, FORWARD, MEETING, type Mutant, noCheck, PATH } from './mutant.js';

const PROXIMITY = 'src/solver/cpu/proximity.js';

/** Faults in what the contract lets a caller exclude: ignored parts, and starts that intersect or touch. */
export const CONTRACT_MUTANTS: readonly Mutant[] = [
  {
    name: 'forgotten-seams',
    fault: 'pairs of ignored parts are excluded also where they guard an element that spans parts',
    edits: [
      {
        file: PROXIMITY,
        search: 'return (seamA | seamB) === 0 && ignored.has(a * partCount + b);',
        replacement: 'return ignored.has(a * partCount + b);',
      },
    ],
    scenes: ['sewnParts'],
    caughtBy: [MEETING, PATH],
  },
  {
    name: 'forgotten-edge-seams',
    fault: 'as above, but only pairs of edges',
    edits: [
      {
        file: PROXIMITY,
        search: 'return (seamA | seamB) === 0 && ignored.has(a * partCount + b);',
        replacement: 'return (corners - sideA === 2 || (seamA | seamB) === 0) && ignored.has(a * partCount + b);',
      },
    ],
    scenes: ['sewnParts'],
    caughtBy: [MEETING, PATH],
  },
  {
    name: 'ignored-unasked',
    fault:
      'pairs of parts are told apart by the sum of their places, so that others than those in the list are ignored',
    edits: [{ file: PROXIMITY, search: 'const partCount = mesh.parts.length;', replacement: 'const partCount = 1;' }],
    scenes: ['sewnParts'],
    caughtBy: [MEETING, PATH, FLOOR],
  },
  {
    name: 'touching-not-excluded',
    fault: 'under IGNORE_PAIRS and PATH what touches in the start is not excluded, and counts as found on the path',
    edits: [{ file: 'src/jobs/excluded.js', search: 'items.push(...collisions);', replacement: '' }],
    scenes: ['touching'],
    caughtBy: ['report: ignoredPairCount', 'the engine was never caught'],
    isVerified: true,
    sent: { corner: 'PATH', isIgnoring: true },
  },
  {
    name: 'touching-excluded-for-ever',
    fault: 'under IGNORE_PAIRS and PATH a pair that was excluded because it touched is never guarded again',
    edits: [
      {
        file: 'src/jobs/excluded.js',
        search: 'items.push(...findNear(mesh, start, parted, floor));',
        replacement: 'items.push(...parted);',
      },
    ],
    scenes: ['touching'],
    caughtBy: ['report: ignoredPairCount', MEETING, PATH],
    mode: 'SESSION',
    isVerified: true,
    sent: { corner: 'PATH', isIgnoring: true },
  },
  {
    name: 'ignoring-blinds-paths',
    fault: 'where any pair is excluded the path test of PATH finds nothing, and the engine bounds no step',
    edits: [
      {
        file: 'src/verify/path.js',
        search: 'if (isExcluded(rules.excluded, finding.code, finding.ids))',
        replacement: 'if (rules.excluded?.items.length > 0)',
      },
      {
        file: FORWARD,
        search: 'const bound = budget > 0 ? f(budget / approach) : 0;',
        replacement: 'const bound = 1;',
      },
      noCheck,
    ],
    scenes: ['touching'],
    caughtBy: [PATH],
    isVerified: true,
    sent: { corner: 'PATH', isIgnoring: true },
  },
];
