import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../examples/pictures/browser.js';
import { openOperations } from '../../examples/resolve-scene.js';
import { SCENES } from '../../examples/scenes/index.js';
import { readConfig } from '../../src/config/config.js';
import type { Positions } from '../../src/contract/mesh.js';
import { writeMesh } from '../../src/mesh/files/index.js';
import { startServer } from '../../src/server/server.js';
import { ensurePage } from '../../test/support/built-page.js';
import { type Case, makeCases } from '../cases.js';
import { endWithUsage, readFlags, readNumber } from '../command-line.js';
import { describeMachine } from '../machine.js';
import { writeWhole } from '../whole-file.js';
import { type Measures, measureInPage } from './in-page.js';

const HELP = `node dist/bench/page/main.js [options]

Measures the cost of the page with a large mesh: opens the built page in headless Chromium on a service of its own, drops a pair, and
measures the JavaScript of a frame while the view turns and while the slider moves, and of a pick. The graphics are software here, so the
frame rate is that of the processor that rasterises; it is printed with the results.

  --vertices N     of the mesh (default 100000)
  --scene NAME     ${Object.keys(SCENES).join(', ')} (default sleeve)
  --budget SECONDS of the request (default 20)
  --picture FILE   writes what the page shows at the end, as PNG
`;

const values = readFlags(HELP, {
  options: {
    vertices: { type: 'string', default: '100000' },
    scene: { type: 'string', default: 'sleeve' },
    budget: { type: 'string', default: '20' },
    picture: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
if (!Object.hasOwn(SCENES, values.scene)) endWithUsage(`There is no scene ${values.scene}.`, HELP);
const vertices = readNumber(HELP, '--vertices', values.vertices);
readNumber(HELP, '--budget', values.budget, false);
/** Longest wait for the service, milliseconds: far more than the time budget. */
const PATIENCE_MS = 600_000;

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** Returns a state as a PLY file of single precision. */
function fileOf({ request: { mesh } }: Case, positions: Positions): Buffer {
  const { vertexCount, triangles = NONE, segments = NONE, particles = NONE } = mesh;
  const file = {
    ...({ format: 'ply', scalar: 'FLOAT32', positions: Float32Array.from(positions) } as const),
    ...{ vertexCount, triangles, segments, particles, faceVertices: triangles },
    faceSizes: new Uint32Array(triangles.length / 3).fill(3),
  };
  return Buffer.concat([...writeMesh(file, 'ply')]);
}

const NONE = new Uint32Array(0);

async function openPair(page: Page, item: Case, folder: string): Promise<void> {
  const { start, target } = item.request;
  const names = ['start.ply', 'target.ply'].map((name) => join(folder, name));
  for (const [i, positions] of [start, target].entries()) writeFileSync(names[i]!, fileOf(item, positions));
  const began = performance.now();
  await page.setInputFiles('#files', names);
  await page.waitForSelector('#open-dialog[open]');
  print(`files opened            ${ms(performance.now() - began)}`);
  const kinematic = item.request.mesh.kinematic;
  const first = kinematic?.indexOf(1) ?? -1;
  if (first >= 0) await page.fill('#kinematic', String(first));
  await page.selectOption('#quality', 'FAST');
  await page.fill('#budget', values.budget);
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  const asked = performance.now();
  // The policy of the page does not allow its code to evaluate text, so the query comes from here.
  const isOver = '!!interstice.explorer.study?.answer || !document.getElementById("problem").hidden';
  while (!(await page.evaluate<boolean>(isOver))) await pause(50);
  if (await page.isVisible('#problem')) throw new Error((await page.textContent('#problem')) ?? 'refused');
  const seconds = (performance.now() - asked) / 1000;
  const took = await page.evaluate<number>('interstice.explorer.study.answer.report.timings.total / 1e6');
  print(`answer on the screen    after ${seconds.toFixed(1)} s, of which the service ${took.toFixed(1)} s`);
}

function report(m: Measures): void {
  print(`triangles, vertices     ${m.triangles}, ${m.vertices}`);
  print(`path                    ${m.states} states, ${(m.pathBytes / 2 ** 20).toFixed(0)} MiB`);
  print('medians, and the longest');
  for (const [name, { script, frame }] of Object.entries(m.moves)) {
    const interval = frame ? `; a frame every ${ms(frame.median)} (software rendering)` : '';
    print(`  ${name.padEnd(22)}${ms(script.median)}, ${ms(script.most)}${interval}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'interstice-page-'));
const operations = await openOperations('cpu');
const off = { INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' };
const server = await startServer(readConfig(off), operations, { log: pino({ level: 'silent' }), handleSignals: false });
const browser = await launchChromium();
try {
  await ensurePage();
  const { value: item } = await makeCases([values.scene], [vertices], undefined).next();
  const { cpu, cores } = describeMachine([]);
  print(`machine                 ${cpu}, ${cores} cores; headless Chromium ${browser.version()}`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(server.address);
  await openPair(page, item, folder);
  report(await page.evaluate<Measures>(`(${measureInPage.toString()})()`));
  if (values.picture !== undefined) writeWhole(values.picture, await page.screenshot());
} finally {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
