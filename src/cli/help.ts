import { EXIT_MEANINGS } from './exit-codes.js';
import { formatRows } from './format.js';

const exitCodes = formatRows(EXIT_MEANINGS.map(([code, meaning]) => [String(code).padStart(3), meaning] as const)).join(
  '\n',
);

export const DESCRIPTION =
  'Moves a mesh from a start towards a target without letting it pass through itself or through obstacles. The start must be free of intersections; the target has the same vertices at other positions. Interstice answers with a state as close to the target as contacts allow, reached along a path of straight pieces on which no two elements ever meet. It alternates two steps: a backward step pulls the target out of contacts and keeps edges near their lengths, and a forward step moves each vertex towards it as far as is provably safe. Kinematic vertices (obstacles, pins) keep their targets and stop only where they would hit something. Before an answer is returned, an independent test with exact arithmetic checks its exact numbers for intersections.';

export const ROOT_EXTRA = `
Exit codes:
${exitCodes}

Examples:
  interstice resolve start.obj target.obj -o answer.obj
  interstice check answer.obj
  interstice flow body.obj --offset 0.01 -o thicker.obj
  interstice serve

For the help of one command, run: interstice resolve --help
INTERSTICE_DEBUG=1 in the environment adds a stack trace to errors.`;

export const RESOLVE_DESCRIPTION =
  'Moves START towards TARGET and writes the answer. Both are OBJ or PLY files with the same vertices in the same order; the faces are those of START, and TARGET may omit them. Every length is in the unit of the files. Without -o no file is written, and only the summary describes the run.';

export const RESOLVE_EXTRA = `
With exit codes 0 and 4 the answer is free of intersections, unless --verify none
was asked for. With --on-intersecting-start ignore-pairs it may keep some of those
of its start: the exit code is then 1, and the summary counts them. Converged means
that no motion is left to use, not that the target is reached: the summary states
the distance to it.

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
  'Tests whether MESH intersects itself, with exact arithmetic on the numbers in the file. With PATH_END (the same vertices at other positions) it also tests the straight path of every vertex from MESH to PATH_END; this test never misses a collision, but may report one where the elements only come very close.';

export const CHECK_EXTRA = `
Exit codes:
${exitCodes}

Examples:
  interstice check answer.obj
  interstice check start.obj target.obj --closer-than 0.001 --json`;

export const FLOW_DESCRIPTION =
  'Moves a closed surface along its normals without letting it pass through itself: outwards for a positive distance, inwards for a negative one. MESH is OBJ or PLY and free of intersections, every length is in the unit of the file. Each step asks for its share of the distance along the area-weighted normals of the state reached so far, and a session of the service goes as far as contacts allow; parts that meet stop each other. Outwards is away from the volume that the surface encloses, however its triangles are oriented.';

export const FLOW_EXTRA = `
With exit codes 0 and 4 the answer is free of intersections. The summary tells how far
the vertices came along their normals: parts that met came less far than asked.

Exit codes:
${exitCodes}

Examples:
  Thicken a body by 1 cm:
    interstice flow body.obj --offset 0.01 -o thicker.obj
  Shrink it in 40 steps, smoothed on the way, on a running service:
    interstice flow body.obj --offset -0.02 --steps 40 --smoothing 0.1 \\
      --server http://127.0.0.1:8080 -o thinner.obj`;

export const SERVE_DESCRIPTION =
  'Starts the service and prints its addresses and an example command. Ctrl-C finishes the running requests and stops; a second Ctrl-C stops at once. Each option can also be set in the environment, or in the file that --config names.';

export const KEY_DESCRIPTION =
  'Creates an API key for TENANT. Prints the key, which only its holder should have, and the line for the file that INTERSTICE_API_KEYS names, which holds only a digest of the key.';

export const BENCH_DESCRIPTION =
  'Runs the benchmark with the given arguments. For its own help, run: interstice bench --help';
