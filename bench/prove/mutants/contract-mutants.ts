import type { CollisionMesh } from '../../../src/mesh/types.js';
import type { testPath } from '../../../src/verify/path.js';
import type { PathFindings } from '../../../src/verify/types.js';
import { FLOOR, MEETING, type Mutant, noBound, noCheck, notGuardedAgain, PATH } from './mutant.js';

const EXCLUSION_RULES = 'src/solver/exclusion-rules.js';

type IsIgnored = (kind: number, ...vertices: number[]) => boolean;

/** Faults in the exclusions that the contract allows: ignored parts, and starts that intersect or touch. */
export const CONTRACT_MUTANTS: readonly Mutant[] = [
  {
    name: 'forgotten-seams',
    description: 'pairs of ignored parts are excluded also where they guard an element that spans parts',
    faults: [
      {
        file: EXCLUSION_RULES,
        function: 'findSeams',
        instead: (_: unknown, mesh: CollisionMesh) => new Uint8Array(mesh.vertexCount),
      },
    ],
    scenes: ['sewnParts'],
    caughtBy: [MEETING, PATH],
  },
  {
    name: 'forgotten-edge-seams',
    description: 'as above, but only pairs of edges',
    faults: [
      {
        file: EXCLUSION_RULES,
        function: 'ignoredParts',
        instead: (original: (mesh: CollisionMesh) => IsIgnored | undefined, mesh: CollisionMesh) => {
          const { partOfVertex: part, ignoredPartPairs: ignored } = mesh;
          const isListed = (p: number, q: number) =>
            ignored.some((each, n) => n % 2 === 0 && each === p && ignored[n + 1] === q);
          const isIgnored = original(mesh);
          return (kind: number, a: number, b: number, c: number, d: number): boolean =>
            // kind 1 is EE
            kind === 1
              ? part[a] === part[b] && part[c] === part[d] && (isListed(part[a], part[c]) || isListed(part[c], part[a]))
              : isIgnored?.(kind, a, b, c, d) === true;
        },
      },
    ],
    scenes: ['sewnParts'],
    caughtBy: [MEETING, PATH],
  },
  {
    name: 'ignored-unasked',
    description:
      'pairs of parts are told apart by the sum of their places, so that others than those in the list are ignored',
    faults: [{ file: EXCLUSION_RULES, constant: 'partCount', value: '1' }],
    scenes: ['sewnParts'],
    caughtBy: [MEETING, PATH, FLOOR],
  },
  {
    name: 'touching-not-excluded',
    description:
      'under IGNORE_PAIRS and PATH what touches in the start is not excluded, and counts as found on the path',
    faults: [{ file: 'src/jobs/start-check.js', function: 'findTouching', instead: () => [] }],
    scenes: ['touching'],
    caughtBy: ['report: ignoredPairCount', 'the engine was never caught'],
    isVerified: true,
    sent: { corner: 'PATH', isIgnoring: true },
  },
  {
    name: 'touching-excluded-for-ever',
    description: 'under IGNORE_PAIRS and PATH a pair that was excluded because it touched is never guarded again',
    faults: [notGuardedAgain],
    scenes: ['touching'],
    caughtBy: ['report: ignoredPairCount', MEETING, PATH],
    mode: 'SESSION',
    isVerified: true,
    sent: { corner: 'PATH', isIgnoring: true },
  },
  {
    name: 'intersecting-uncounted',
    description: 'the report says that no ignored pair intersects in the answer',
    faults: [
      {
        file: 'src/jobs/ignored-pairs.js',
        function: 'describeIntersecting',
        instead: () => ({ counted: { intersectingPairCount: 0 }, named: [], warnings: [] }),
      },
    ],
    scenes: ['tangle'],
    caughtBy: ['report: intersectingPairCount'],
    isVerified: true,
    sent: { isIgnoring: true },
  },
  {
    name: 'ignoring-blinds-paths',
    description: 'where any pair is excluded the path test of PATH finds nothing, and the engine bounds no step',
    faults: [
      {
        file: 'src/verify/path.js',
        function: 'testPath',
        instead: (original: typeof testPath, ...of: Parameters<typeof testPath>): PathFindings => {
          const [, , , { excluded }] = of;
          const isBlind = excluded !== undefined && excluded.items.length > 0;
          return isBlind
            ? { pathFree: true, earliestImpact: undefined, collisionCount: 0, collisions: [] }
            : original(...of);
        },
      },
      noBound,
      ...noCheck,
    ],
    scenes: ['touching'],
    caughtBy: [PATH],
    isVerified: true,
    sent: { corner: 'PATH', isIgnoring: true },
  },
];
