import { join } from 'node:path';
import { endWithUsage, readFlags } from '../../../bench/command-line.js';
import { writeWhole } from '../../../bench/whole-file.js';
import '../../../bench/closed-pipe.js';
import { ServerProcess } from '../../../bench/prove/server.js';
import { SCENES } from '../scenes/index.js';
import { SIZES, type Size } from '../scenes/types.js';
import { type CollisionHandler, Integrator, startOf } from '../src/integrator.js';
import type { Model } from '../src/model.js';
import { type Answer, Service } from '../src/service.js';
import { integratorSettingsOf, modelOf } from './play.js';

const HELP = `node dist/examples/solver/runner/trajectories.js [options]

Draws the way of nine vertices of a spinning patch through its first time step, from above and from the side (Fig. 17): the path that
the service has found, and the straight way to the same answer.

  --scene NAME     spin-0, spin-45, spin-90 (default) or spin-135
  --size SIZE      small, quarter (default) or full
  --to FOLDER      default: examples/solver/results/figures
  --server ADDRESS gRPC address of a running service; default: one is started, on the CPU engine
`;

/** Number of tracked vertices of a diagonal of the patch, evenly spaced. */
const TRACKED = 9;

const PANEL = 340;
const MARGIN = 20;
const TOP = 44;
const COLOURS = [
  '#b0321c',
  '#d9822b',
  '#b7791f',
  '#2f855a',
  '#222222',
  '#319795',
  '#2b6cb0',
  '#6b46c1',
  '#b83280',
] as const;

type Point = readonly [number, number];
type View = (x: ArrayLike<number>, vertex: number) => Point;
const FROM_ABOVE: View = (x, v) => [x[3 * v]!, -x[3 * v + 1]!];
const FROM_THE_SIDE: View = (x, v) => [x[3 * v]!, -x[3 * v + 2]!];

/** Ids of the tracked vertices. The patch is the first body, a square grid. */
function diagonalOf({ parts }: Model): number[] {
  const side = Math.round(Math.sqrt(parts[0]!.vertexCount));
  return Array.from({ length: TRACKED }, (_, k) => (side + 1) * Math.round((k * (side - 1)) / (TRACKED - 1)));
}

/** Edges of the obstacles, each once. */
function outlineOf({ mesh, isKinematic }: Model): [number, number][] {
  const edges = new Map<string, [number, number]>();
  for (let i = 0; i < mesh.triangles.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const [a, b] = [mesh.triangles[i + k]!, mesh.triangles[i + ((k + 1) % 3)]!];
      if (isKinematic[a] && isKinematic[b]) edges.set(`${Math.min(a, b)} ${Math.max(a, b)}`, [a, b]);
    }
  }
  return [...edges.values()];
}

/** @param path float64[3·V] of every state */
function draw(heading: string, model: Model, path: readonly ArrayLike<number>[]): string {
  const ids = diagonalOf(model);
  const outline = outlineOf(model);
  const answer = path.at(-1)!;
  const panels = [FROM_ABOVE, FROM_THE_SIDE].map((view, panel) => {
    const points = [
      ...path.flatMap((state) => ids.map((id) => view(state, id))),
      ...outline.flat().map((id) => view(answer, id)),
    ];
    const low = [0, 1].map((c) => points.reduce((a, p) => Math.min(a, p[c]!), Number.POSITIVE_INFINITY));
    const high = [0, 1].map((c) => points.reduce((a, p) => Math.max(a, p[c]!), Number.NEGATIVE_INFINITY));
    const scale = (PANEL - 2 * MARGIN) / Math.max(high[0]! - low[0]!, high[1]! - low[1]!);
    const at = ([a, b]: Point): string =>
      `${(panel * PANEL + MARGIN + scale * (a - low[0]!)).toFixed(1)} ${(TOP + MARGIN + scale * (b - low[1]!)).toFixed(1)}`;
    const lines = outline.map(([a, b]) => `M${at(view(answer, a))}L${at(view(answer, b))}`).join('');
    return [
      `<path d="${lines}" stroke="#c4c9d2" stroke-width="0.6"/>`,
      ...ids.flatMap((id, k) => {
        const way = path.map((state, i) => `${i === 0 ? 'M' : 'L'}${at(view(state, id))}`).join('');
        const chord = `M${at(view(path[0]!, id))}L${at(view(answer, id))}`;
        const [cx, cy] = at(view(answer, id)).split(' ');
        return [
          `<path d="${chord}" stroke="${COLOURS[k]}" stroke-width="0.7" stroke-dasharray="3 3"/>`,
          `<path d="${way}" stroke="${COLOURS[k]}" stroke-width="1.4"/>`,
          `<circle cx="${cx}" cy="${cy}" r="2.5" fill="${COLOURS[k]}"/>`,
        ];
      }),
    ].join('\n');
  });
  const [width, height] = [2 * PANEL, PANEL + TOP];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#3e444e">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${MARGIN}" y="20" font-size="14">${heading}</text>`,
    `<text x="${MARGIN}" y="38">from above, and from the side; dashed: the straight way to the same place</text>`,
    `<g fill="none">\n${panels.join('\n')}\n</g>`,
    '</svg>\n',
  ].join('\n');
}

async function track(name: string, size: Size, address: string): Promise<string> {
  const scene = SCENES.get(name)!(size);
  const model = modelOf(scene);
  const start = startOf(model);
  const service = await Service.open(address, model, start.x, scene.parameters ?? {});
  try {
    // One answer per iteration; each path begins at the end of the previous one.
    const answers: Answer[] = [];
    const handler: CollisionHandler = {
      step: async (y, contactDistance) => {
        const answer = await service.step(y, contactDistance, { path: true });
        answers.push(answer);
        return answer;
      },
    };
    const [activationDistance, contactOffset] = ['activationDistance', 'contactOffset'].map((parameter) =>
      service.parameter(parameter),
    ) as [number, number];
    await new Integrator(model, handler, integratorSettingsOf(scene, { activationDistance, contactOffset })).step(
      start,
    );
    const path = answers.flatMap((answer, k) => answer.path!.slice(k === 0 ? 0 : 1));
    const steps = answers.reduce((sum, { report }) => sum + report.steps, 0);
    return draw(`${name}, ${size}: ${path.length - 1} pieces in ${steps} steps`, model, path);
  } finally {
    await service.close();
  }
}

const values = readFlags(HELP, {
  options: {
    scene: { type: 'string', default: 'spin-90' },
    size: { type: 'string', default: 'quarter' },
    to: { type: 'string', default: join('examples', 'solver', 'results', 'figures') },
    server: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else {
  const size =
    SIZES.find((known) => known === values.size) ?? endWithUsage(`--size is one of ${SIZES.join(', ')}.`, HELP);
  const scenes = [...SCENES.keys()].filter((name) => name.startsWith('spin-'));
  if (!scenes.includes(values.scene)) endWithUsage(`--scene is one of ${scenes.join(', ')}.`, HELP);
  const server = values.server === undefined ? await ServerProcess.start({ engine: 'cpu' }) : undefined;
  try {
    const picture = await track(values.scene, size, values.server ?? server!.grpcAddress);
    writeWhole(join(values.to, `trajectories-${values.scene}-${size}.svg`), picture);
  } finally {
    await server?.stop();
  }
}
