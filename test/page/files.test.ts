import { NodeIO } from '@gltf-transform/core';
import type { Page } from 'playwright-core';
import t from 'tap';
import { readMesh } from '../../src/mesh/files/index.js';
import { run } from '../cli/in-process.js';
import { skipWithoutChromium } from '../support/chromium.js';
import { fileOf, openPageService, resolve, saveAs, squares, textOnce, untilAnswered } from './open-page.js';
import { squaresOfGltf } from './squares-gltf.js';

/** Files of the page: what is saved, seams, and reports in one file. */

const answerOf = (page: Page) => page.evaluate<number[]>('[...interstice.explorer.study.answer.positions]');

// A browser and an engine beside other work take their time.
t.setTimeout(600_000);

t.test('the page reads and writes mesh files', { skip: skipWithoutChromium }, async (t) => {
  const { address, open } = await openPageService(t);
  const pair = [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];

  await t.test('answers are saved as OBJ, PLY and GLB', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    const answer = await answerOf(page);
    for (const format of ['obj', 'ply'] as const) {
      const file = await readMesh([await saveAs(page, format)], format);
      t.same([...file.positions], answer, `${format}: the very numbers`);
      t.equal(file.triangles.length, 12);
    }
    const document = await new NodeIO().readBinary(new Uint8Array(await saveAs(page, 'gltf')));
    const [primitive] = document.getRoot().listMeshes()[0]!.listPrimitives();
    t.same(
      [...primitive!.getAttribute('POSITION')!.getArray()!],
      answer.map(Math.fround),
      'glb: rounded, and tested again',
    );

    const glb = Buffer.from(await new NodeIO().writeBinary(squaresOfGltf()));
    await page.setInputFiles('#files', [{ name: 'layers.glb', mimeType: 'model/gltf-binary', buffer: glb }]);
    await resolve(page);
    await untilAnswered(page);
    const filled = await new NodeIO().readBinary(new Uint8Array(await saveAs(page, 'gltf')));
    t.match(await textOnce(page, '#problem-text', 'hold'), /answer\.glb does not hold morph targets/);
    t.equal(filled.getRoot().listNodes().length, 1, 'a .glb keeps its nodes');
    const [kept] = filled.getRoot().listMeshes()[0]!.listPrimitives();
    t.same([...kept!.getAttribute('POSITION')!.getArray()!], await answerOf(page));
  });

  await t.test('the page says which file it reads, and stops when the user cancels', async (t) => {
    const page = await open(t);
    // Every piece waits for its turn, and the clock has moved on by a second each time.
    await page.evaluate(() => {
      const { arrayBuffer } = Blob.prototype;
      const { now } = performance;
      const turns: (() => void)[] = [];
      let seconds = 0;
      performance.now = () => now.call(performance) + 1000 * seconds;
      Blob.prototype.arrayBuffer = async function () {
        await new Promise<void>((resolve) => turns.push(resolve));
        seconds += 1;
        return arrayBuffer.call(this);
      };
      Object.assign(globalThis, { turns });
    });
    const next = async () => {
      await page.waitForFunction('turns.length > 0');
      await page.evaluate('turns.shift()()');
    };
    await page.setInputFiles('#files', pair);
    await next();
    t.equal(await textOnce(page, '#busy:not([hidden]) #busy-note', 'target'), 'target.obj, 0 %');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await next();
    await page.waitForSelector('#busy', { state: 'hidden' });
    t.equal(await page.isVisible('#open-dialog'), false, 'nothing is opened');
    t.equal(await page.isVisible('#problem'), false, 'and nothing is wrong');

    // A target that is chosen while its start is read waits for it.
    await page.setInputFiles('#files', [pair[0]!]);
    await page.setInputFiles('#files', [pair[1]!]);
    await next();
    t.match(await textOnce(page, '#open-dialog[open] #file-start', 'start'), /^start\.obj, 8\svertices$/);
    await next();
    t.match(await textOnce(page, '#open-dialog[open] #file-target', 'target'), /^target\.obj, 8\svertices$/);
    await page.getByRole('button', { name: 'Resolve', exact: true }).waitFor();
  });

  await t.test('welding seams keeps the ids of vertices', async (t) => {
    // Two panels that meet at an edge whose vertices each of them has.
    const panels = (z: number) =>
      `v 0 0 ${z}\nv 1 0 ${z}\nv 1 1 ${z}\nv 1 0 ${z}\nv 2 0 ${z}\nv 1 1 ${z}\nf 1 2 3\nf 4 5 6\n`;
    const page = await open(t);
    await page.setInputFiles('#files', [fileOf('start.obj', panels(0)), fileOf('target.obj', panels(1))]);
    t.match(await textOnce(page, '#weld-text', 'lie'), /2 vertices lie exactly where another one does/);
    t.equal(await page.isChecked('#weld'), true);
    await resolve(page);
    await untilAnswered(page);
    t.match(await page.textContent('#result'), /converged/);
    const saved = (await saveAs(page, 'obj')).toString();
    t.match(saved, /f 1 2 3\nf 4 5 6/, 'the elements of the file');
    const answer = await answerOf(page);
    t.same(
      [answer.slice(9, 12), answer.slice(15, 18)],
      [answer.slice(3, 6), answer.slice(6, 9)],
      'copies stay together',
    );
    t.ok(answer[2]! > 0.9, 'they arrive');
    // Copies that part in the target cannot be welded, which is said.
    await page.setInputFiles('#files', [
      fileOf('start.obj', panels(0)),
      fileOf('target.obj', panels(1).replace('v 1 0 1\nv 2', 'v 1.1 0 1\nv 2')),
    ]);
    t.match(await textOnce(page, '#weld-text', 'cannot'), /not in the target, so they cannot be welded/);
    t.equal(await page.isDisabled('#weld'), true);
  });

  await t.test('explain with a service writes the report that the page shows', async (t) => {
    const folder = t.testdir({ 'start.obj': squares(0, 0.5), 'target.obj': squares(1, 0.5) });
    const argv = ['explain', 'start.obj', 'target.obj', '-o', 'report.html', '--server', address];
    const { status, stderr } = await run(argv, { cwd: folder });
    t.equal(status, 0, stderr);
    const page = await open(t, {}, `file://${folder}/report.html`);
    t.match(await page.textContent('#result'), /converged.*Intersecting pairs in the target0/);
    t.ok((await page.evaluate<number>('interstice.explorer.study.path.length')) > 2, 'with the path of the service');
  });
});
