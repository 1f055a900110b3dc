import { writeObj } from './obj.js';
import { exampleRequests, writeRequest } from './requests.js';
import { EXAMPLES } from './scenes/index.js';
import { makeSolid } from './scenes/solid.js';
import type { Scene } from './scenes/types.js';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The options object that --options of the command line and the multipart part `options` accept. */
const optionsOf = (scene: Scene): unknown => ({
  parameters: scene.parameters,
  ...(scene.kinematicFrom < scene.vertexCount ? { kinematicFrom: scene.kinematicFrom } : {}),
});

/** A JSON request for `POST /v1/resolve`, with one line per field. */
function requestOf(scene: Scene): string {
  const positions = (values: Float64Array) => ({ data: Array.from(values), scalar: 'FLOAT64' });
  const fields = {
    mesh: {
      vertexCount: scene.vertexCount,
      ...(scene.triangles.length > 0 ? { triangles: Array.from(scene.triangles) } : {}),
      ...(scene.segments.length > 0 ? { segments: Array.from(scene.segments) } : {}),
      ...(scene.particles.length > 0 ? { particles: Array.from(scene.particles) } : {}),
      ...(scene.tetrahedra.length > 0 ? { tetrahedra: Array.from(scene.tetrahedra) } : {}),
      kinematic: Array.from({ length: scene.vertexCount }, (_, i) => (i < scene.kinematicFrom ? 0 : 1)),
    },
    start: positions(scene.start),
    target: positions(scene.target),
    parameters: scene.parameters,
  };
  return `{\n${Object.entries(fields)
    .map(([name, value]) => `"${name}": ${JSON.stringify(value)}`)
    .join(',\n')}\n}\n`;
}

function pairFiles(name: string, scene: Scene): [string, string][] {
  return [
    [`pairs/${name}/start.obj`, writeObj(scene, scene.start, `Interstice example "${name}", the start; metres`)],
    [`pairs/${name}/target.obj`, writeObj(scene, scene.target, `Interstice example "${name}", the target; metres`)],
    [`pairs/${name}/options.json`, json(optionsOf(scene))],
  ];
}

const countsOf = (scene: Scene): string =>
  [
    `${scene.vertexCount} vertices`,
    scene.triangles.length > 0 && `${scene.triangles.length / 3} triangles`,
    scene.segments.length > 0 && `${scene.segments.length / 2} segments`,
    scene.particles.length > 0 && `${scene.particles.length} particles`,
    scene.kinematicFrom < scene.vertexCount && `kinematic from vertex ${scene.kinematicFrom}`,
  ]
    .filter(Boolean)
    .join(', ');

const readme = (scenes: readonly (readonly [string, Scene])[]): string => `# Example pairs

Each folder in \`pairs/\` holds a start that is free of intersections, a target that no straight path reaches,
and the options: everything that one request needs. Units are metres, edges are about 10 mm long.

| pair | what happens | size |
|---|---|---|
${scenes.map(([name, scene]) => `| \`${name}\` | ${scene.sentence} | ${countsOf(scene)} |`).join('\n')}

From the top of the repository, after \`npm run build\`:

\`\`\`sh
node dist/src/cli/main.js resolve examples/pairs/spike/start.obj examples/pairs/spike/target.obj \\
  --options examples/pairs/spike/options.json -o spike-answer.obj
\`\`\`

or, with a service running (\`npm start\`):

\`\`\`sh
curl -sS -F start=@examples/pairs/spike/start.obj -F target=@examples/pairs/spike/target.obj \\
  -F options=@examples/pairs/spike/options.json http://127.0.0.1:8080/v1/resolve -o spike-answer.obj
curl -sS -H 'content-type: application/json' --data-binary @examples/pairs/solid/request.json \\
  http://127.0.0.1:8080/v1/resolve -o solid-answer.json
\`\`\`

\`requests/\` holds one JSON body for each operation that takes positions, with the pair \`layers\` in small (18 vertices); \`/docs\`
offers them under "Try it out".

OBJ has no tetrahedra: \`solid/request.json\` shows how a solid with its tetrahedra is sent as JSON.

\`npm run examples\` regenerates these files, byte for byte (\`scenes/\` defines them; the benchmark runs larger versions of
the same scenes), and \`npm run pictures\` draws \`docs/pictures/\` from real answers.

\`solver/\` is a deformable-body solver that calls the service for every time step, with the scenes of the paper:
[its page](solver/README.md).
`;

/** Every generated file of this folder, as path in examples/ → contents. */
export function exampleFiles(): Map<string, string> {
  const scenes = Object.entries(EXAMPLES).map(([name, make]) => [name, make()] as const);
  return new Map<string, string>([
    ['README.md', readme(scenes)],
    ...scenes.flatMap(([name, scene]) => pairFiles(name, scene)),
    ['pairs/solid/request.json', requestOf(makeSolid())],
    ...[...exampleRequests()].map(([name, body]) => [`requests/${name}.json`, writeRequest(body)] as const),
  ]);
}
