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
  interstice explain start.obj target.obj -o report.html
  interstice check answer.obj
  interstice doctor start.obj target.obj
  interstice untangle tangled.obj -o free.obj
  interstice flow body.obj --offset 0.01 -o thicker.obj
  interstice serve
  interstice load --server http://127.0.0.1:8080
  interstice plan --sessions 20 --triangles 2000 --rate 2

For the help of one command, run: interstice resolve --help
INTERSTICE_DEBUG=1 in the environment adds a stack trace to errors.`;

export const RESOLVE_DESCRIPTION =
  'Moves START towards TARGET and writes the answer. Both are OBJ, PLY or glTF files with the same vertices in the same order; the faces are those of START, and TARGET may omit them. Every length is in the unit of the files. Without -o no file is written, and only the summary describes the run.';

export const RESOLVE_EXTRA = `
With exit codes 0 and 4 the answer is free of intersections, unless you pass
--verify none. With --on-intersecting-start ignore-pairs it may keep intersections
of its start: the exit code is then 1, and the summary counts them. Converged means
that further steps would change little, not that the target is reached: the summary
states the distance to it.

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
    interstice resolve start.obj target.obj -o answer.obj --server http://127.0.0.1:8080
  As a job of minutes, which continues if this program is interrupted:
    interstice resolve start.obj target.obj -o answer.obj --server http://127.0.0.1:8080 --job
  The frames of a simulation, each starting from the previous answer:
    interstice resolve frames/*.obj --sequence -o repaired/`;

export const EXPLAIN_DESCRIPTION =
  'Resolves START towards TARGET and writes a report as one HTML file, which any browser shows without a service or a network. It shows start, target and answer on a slider over the path, in colours for distance, stretch, gaps and intersections, and for every vertex what stopped it. It also explains a refused request and marks the elements at fault in the start. The file holds both meshes and the answer; nothing is sent anywhere.';

export const EXPLAIN_EXTRA = `
The exit codes are those of resolve. The report is written with 0, 1 and 4, and with 3
if the start is at fault.

Examples:
  A report to send with a question:
    interstice explain start.obj target.obj --kinematic-from 15105 -o report.html
  With a picture, of a mesh whose y axis points up:
    interstice explain a.obj b.obj -o report.html --picture report.png --up y`;

export const CHECK_DESCRIPTION =
  'Tests whether MESH intersects itself, with exact arithmetic on the numbers in the file. With PATH_END (the same vertices at other positions) it also tests the straight path of every vertex from MESH to PATH_END; this test never misses a collision, but may report one where the elements only come very close.';

export const CHECK_EXTRA = `
Exit codes:
${exitCodes}

Examples:
  interstice check answer.obj
  interstice check start.obj target.obj --closer-than 0.001 --json`;

export const CERTIFY_DESCRIPTION =
  'Resolves START towards TARGET and writes a certificate: one file with the start, every state on the way, the answer, the report, the parameters and the SHA-256 of each array. Then it checks the file with checker/certificate.mjs, a single-file program that shares no code with this one. It confirms that no state intersects, that no elements meet on any piece between two states, and that the hashes match. Whoever receives the file can do the same with Node or in a browser, without this program and without a network. With --check FILE the command only checks.';

export const CERTIFY_EXTRA = `
With --verify path, the default here, every piece is also tested while the answer is
computed. The path must fit into INTERSTICE_MAX_MESSAGE_BYTES: 12 bytes a vertex and
state, 24 in doubles.
A certificate that is refused, or whose check fails, gives exit code 1.

Exit codes:
${exitCodes}

Examples:
  interstice certify start.obj target.obj --kinematic-from 15105 -o answer.certificate
  interstice certify --check answer.certificate
  node checker/certificate.mjs answer.certificate`;

export const DOCTOR_DESCRIPTION =
  'Examines START, and TARGET (the same vertices at other positions), and says in plain words what is wrong and what to do: units and axes that differ, coincident vertices of seams, slivers, duplicate and flipped faces, thin gaps, intersections by region with size and depth, the order of layers, lengths and a time budget that fit. It examines meshes that other commands refuse, but not an OBJ or PLY file in which an element names a vertex twice or one that does not exist, or a coordinate is not finite: such a file is refused with the line at fault. It writes no mesh unless --weld-to or --sew-to names a file. Objects and groups of an OBJ are called by their names if each has its own vertices.';

export const DOCTOR_EXTRA = `
The exit code is 1 if there is a problem: the mesh would be refused, or the answer
would not be what you intend. Warnings and notes do not count.

Exit codes:
${exitCodes}

Examples:
  interstice doctor start.obj target.obj
  interstice doctor panels.obj --weld-to welded.obj
  interstice doctor start.obj --json > diagnosis.json`;

export const UNTANGLE_DESCRIPTION =
  'Moves START, which may intersect, to a state that does not. Parts on a wrong side are pushed through, while everything else is protected; then the mesh is pulled back towards START as far as contacts and lengths allow. A closed kinematic body and --layer decide which side is right. Elsewhere the smaller part counts as the wrong one, which is a guess: the summary says so for every contour, and --turn reverses the choice for one contour. Objects and groups of an OBJ are called by their names if each has its own vertices.';

export const UNTANGLE_EXTRA = `
The exit code is 0 if the answer is free of intersections, by the exact test of its
numbers, and 1 if some are left: the file then has the best state that was found.
The parameters are those of the pull-back, which does not read --method, --verify
and --on-intersecting-start.

Exit codes:
${exitCodes}

Examples:
  interstice untangle dress.obj -o free.obj --picture free.png
  A coat over a shirt on a body whose vertices begin at 15105:
    interstice untangle outfit.obj --kinematic-from 15105 --layer shirt:coat -o free.obj
  The contour that the summary calls 3 has its wrong side on the other sheet:
    interstice untangle dress.obj --turn 3 -o free.obj
  As a job of minutes, which continues if this program is interrupted:
    interstice untangle dress.obj -o free.obj --server http://127.0.0.1:8080 --job`;

export const FLOW_DESCRIPTION =
  'Moves a closed surface along its normals without letting it pass through itself: outwards for a positive distance, inwards for a negative one. MESH is OBJ, PLY or glTF and free of intersections; every length is in the unit of the file. Each step aims for its share of the distance along the area-weighted normals of the state reached so far, and a session of the service goes as far as contacts allow; parts that meet stop each other. Outwards is away from the volume that the surface encloses, however its triangles are oriented.';

export const FLOW_EXTRA = `
With exit codes 0 and 4 the answer is free of intersections. The summary says how far
the vertices moved along their normals: parts that met moved less than the distance.

Exit codes:
${exitCodes}

Examples:
  Thicken a body by 1 cm:
    interstice flow body.obj --offset 0.01 -o thicker.obj
  Shrink it in 40 steps, smoothed on the way, on a running service:
    interstice flow body.obj --offset -0.02 --steps 40 --smoothing 0.1 \\
      --server http://127.0.0.1:8080 -o thinner.obj`;

export const JOB_DESCRIPTION =
  'Jobs are resolves and untanglings that a service computes while no connection waits for them: interstice resolve START TARGET --server URL --job submits one, and so does interstice untangle. The service keeps a job and its answer for a time after its end; a job does not survive a restart of the service.';

export const JOB_EXTRA = `
Examples:
  interstice job list --server http://127.0.0.1:8080
  interstice job watch ID --server http://127.0.0.1:8080
  interstice job fetch ID start.obj -o answer.obj --server http://127.0.0.1:8080
  interstice job cancel ID --server http://127.0.0.1:8080

For the help of one of them, run: interstice job fetch --help`;

export const SERVE_DESCRIPTION =
  'Starts the service and prints its addresses and an example command. Ctrl-C finishes the running requests and stops; a second Ctrl-C stops at once. Each option can also be set in the environment, or in the file that --config names.';

export const KEY_DESCRIPTION =
  'Creates an API key for TENANT. Prints the key, which only its holder should have, and the line for the file that INTERSTICE_API_KEYS names, which holds only a digest of the key.';

export const BENCH_DESCRIPTION =
  'Runs the benchmark with the given arguments. For its own help, run: interstice bench --help';

export const LOAD_DESCRIPTION =
  'Opens sessions on a running service, sends steps for some time, and prints accepted steps a second, latencies with their shares of waiting and computing, and refusals by code. Without --rate each session sends its next step when it has the previous answer. With --rate steps are due at a fixed pace, and latency counts from the time when a step was due, so a service that stalls gets no fewer steps. Sessions are deleted at the end, also on Ctrl-C; those of a program that was killed end after two minutes without use.';

export const LOAD_EXTRA = `
Each session has its own connection and sends one step at a time. In the table,
queue, compute, verify and other are means that add up to the mean latency; "in time"
is the share of steps that were answered before the next one was due. A refusal is
counted, and its session waits as the refusal says (5 s at most). The exit code is 5
if nothing was accepted.

Examples:
  How many steps a second, with 1, 4 and 16 clients:
    interstice load --server http://127.0.0.1:8080 --sessions 1,4,16
  Sixteen simulations with 10 steps a second each, over gRPC streams, for a minute:
    interstice load --server http://127.0.0.1:8080 --door stream \\
      --sessions 16 --rate 10 --triangles 5000 --duration 60
  Your own mesh, for a script:
    interstice load --server https://service.example --mesh a.obj --target b.obj --json`;

export const PLAN_DESCRIPTION =
  'Computes how many processes, cores or graphics cards, and how much memory a load needs, from measured costs of steps and a simulation of the queue of the fullest process. Sessions are assumed to fall to processes at random, so some processes have more than others. If a single session asks for more than one process can deliver, no number of processes helps: the exit code is then 1, and the answer names the highest possible rate.';

export const PLAN_EXTRA = `
Costs depend on the machine, the quality and the motion: measure on yours, with the
engine that will serve. Between two sizes they are interpolated as powers.

Examples:
  From costs that come with the program (--engine webgpu: of a software adapter, not of a card):
    interstice plan --sessions 500 --triangles 5000 --rate 2
  Measured here, in a minute, then planned for processes of eight cores:
    interstice plan --measure costs.json
    interstice plan --costs costs.json --lanes 8 --sessions 500 --triangles 5000 --rate 2
  On a machine with a graphics card, then for as many cards as necessary:
    interstice plan --measure card.json --engine webgpu --sizes 2000,20000,200000
    interstice plan --costs card.json --sessions 500 --triangles 50000 --rate 30`;
