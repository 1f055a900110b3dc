import { EXIT_MEANINGS } from './exit-codes.js';
import { formatRows } from './format.js';

const exitCodes = formatRows(EXIT_MEANINGS.map(([code, meaning]) => [String(code).padStart(3), meaning] as const)).join(
  '\n',
);

export const DESCRIPTION =
  'Moves a mesh from where it is towards where it should go, without letting it pass through itself or through obstacles. You give a start that is free of intersections and a target (the same vertices elsewhere). Interstice answers with a state as close to the target as contacts allow, reached along a path of straight pieces on which no two elements ever meet. It alternates two steps: a backward step pulls the target out of contacts and keeps edges near their lengths, a forward step moves each vertex towards it as far as is certainly safe. Kinematic vertices (obstacles, pins) keep their target and only wait where they would hit something. Before an answer is given, an independent test with exact arithmetic looks for intersections in the very numbers of the answer.';

export const ROOT_EXTRA = `
Exit codes:
${exitCodes}

Examples:
  interstice resolve start.obj target.obj -o answer.obj
  interstice check answer.obj
  interstice serve

Help of one command: interstice resolve --help
INTERSTICE_DEBUG=1 in the environment adds a stack trace to errors.`;

export const RESOLVE_DESCRIPTION =
  'Moves START towards TARGET and writes the answer. Both are OBJ or PLY files with the same vertices in the same order; the faces are those of START, TARGET may leave them out. Every length is in the unit of the files. Without -o nothing is written: the summary alone tells how the run went.';

export const RESOLVE_EXTRA = `
With exit code 0 and with 4 the answer is free of intersections. Converged means
that no motion is left to use, not that the target is reached: the summary tells
how far it is.

Exit codes:
${exitCodes}

Examples:
  Cloth on a moving body whose vertices begin at 15105:
    interstice resolve start.obj target.obj --kinematic-from 15105 -o answer.obj
  Pins from a list, thicker contacts, at most two seconds:
    interstice resolve a.ply b.ply --kinematic pins.txt --activation-distance 0.002 \\
      --time-budget 2 -o c.ply
  Every state on the way, and the report for a script:
    interstice resolve start.obj target.obj --trace path/ --json > report.json
  On a running service:
    interstice resolve start.obj target.obj -o answer.obj --server http://127.0.0.1:8080`;

export const CHECK_DESCRIPTION =
  'Tests whether MESH intersects itself, with exact arithmetic on the numbers in the file. With PATH_END (the same vertices elsewhere) it also tests the straight path of every vertex from MESH to there; that test never misses a collision, but may report one where the elements only come very close.';

export const CHECK_EXTRA = `
Exit codes:
${exitCodes}

Examples:
  interstice check answer.obj
  interstice check start.obj target.obj --closer-than 0.001 --json`;

export const SERVE_DESCRIPTION =
  'Starts the service and prints its addresses and a command to try it with. Ctrl-C finishes what is running and stops; a second one stops at once. Each option can be set in the environment instead, or in the file that --config names.';

export const KEY_DESCRIPTION =
  'Makes an API key for TENANT. Prints the key, which only its holder should ever have, and the line for the file that INTERSTICE_API_KEYS names, which holds no more than a digest of it.';

export const BENCH_DESCRIPTION =
  'Runs the benchmark; all arguments are handed on to it. Its own help: interstice bench --help';
