import { readFileSync } from 'node:fs';
import { NodeIO } from '@gltf-transform/core';
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { readMesh } from '../../src/mesh/files/index.js';
import { run } from '../cli/in-process.js';
import { skipWithoutChromium } from '../support/chromium.js';
import { fileOf, openPageService, resolve, squares, untilAnswered } from './open-page.js';
import { squaresOfGltf } from './squares-gltf.js';

/** Work with the page: long resolves as jobs, paths of large meshes, seams, and what is saved. */

/** Questions for the state of a job. */
const QUESTION = /\/v1\/jobs\/[^/]+\?wait=/;

const saveAs = async (page: Page, format: string): Promise<Buffer> => {
  await page.selectOption('#save-format', format);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save answer' }).click();
  return readFileSync(await (await download).path());
};

/** The text of an element once it has this word: the page reads files, and asks the service, while the test goes on. */
const textOnce = async (page: Page, selector: string, word: string): Promise<string> => {
  await page.waitForSelector(`${selector}:has-text("${word}")`, { state: 'attached' });
  return (await page.textContent(selector)) ?? '';
};

const answerOf = (page: Page) => page.evaluate<number[]>('[...interstice.explorer.study.answer.positions]');

// A browser and an engine beside other work take their time.
t.setTimeout(300_000);

t.test('work with the page', { skip: skipWithoutChromium }, async (t) => {
  const { operations, address, open } = await openPageService(t);
  const pair = [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];

  /** Answers the page's first question as if the job ran, and the next never, until it is loaded again; `ids` are those it asked for. */
  const holdJobs = async (page: Page) => {
    const ids: string[] = [];
    let isHeld = true;
    await page.route(QUESTION, async (route: Route) => {
      if (!isHeld) return route.fallback();
      const id = /jobs\/([^?]+)/.exec(route.request().url())![1]!;
      if (ids.push(id) > 1) return;
      const progress = { steps: 7, residual: 0.25, unfinishedVertices: 3 };
      const job = { id, state: 'JOB_RUNNING', phase: 'SOLVING', label: '', created: new Date().toISOString() };
      await route.fulfill({ json: { ...job, progress, bytes: '0' } });
    });
    const reload = async () => {
      isHeld = false;
      await page.reload();
    };
    return { ids, reload };
  };

  await t.test(
    'a start that intersects is untangled; contours, sides and regions are shown, and a side is turned',
    async (t) => {
      const page = await open(t);
      // The far corner of the upper square hangs through the lower one.
      const pierced = squares(0, 0.5).replace('v 1 1 0.5', 'v 0.7 0.6 -0.2');
      await page.setInputFiles('#files', [fileOf('tangled.obj', pierced), fileOf('target.obj', squares(0, 0.5))]);
      await resolve(page);
      await page.waitForSelector('#problem:not([hidden])');
      await page.click('#problem-close');
      await page.click('#untangle');
      t.match(await textOnce(page, '#untangled', 'free'), /no intersection/);
      t.match(await textOnce(page, '#contours', 'Contour 0'), /On the wrong side: \d+ vertices/);
      t.equal(await page.inputValue('#field'), 'regions');
      const regions = await page.evaluate<number[]>('[...interstice.explorer.study.untangled.regions]');
      t.ok(regions.includes(0), 'a vertex was in the region of contour 0');
      await page.click('#contours button:has-text("Show")');
      t.equal(await page.getAttribute('#show-start', 'aria-pressed'), 'true', 'a contour is one of the start');
      await page.click('#contours button:has-text("Turn")');
      await page.waitForSelector('#contours button:has-text("Turn back")');
      t.match(await page.textContent('#contours'), /turned by you/);
      t.match((await saveAs(page, 'obj')).toString(), /^v /m);
    },
  );

  await t.test('a resolve is a job: it tells how far it is, survives a reload, and can be cancelled', async (t) => {
    const page = await open(t);
    const { ids, reload } = await holdJobs(page);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await page.waitForSelector('#busy-kept:not([hidden])');
    t.match(await page.textContent('#busy-text'), /The service computes/);
    // The job is kept before the page has asked for its progress.
    t.match(await textOnce(page, '#busy-note', 'step'), /8 vertices, step 7, residual 0\.25, 3 vertices under way/);
    await reload();
    await untilAnswered(page);
    t.match(await page.textContent('#title'), /start\.obj → target\.obj/);
    t.match(await page.textContent('#result'), /converged/);
    t.equal(await page.isVisible('#rerun'), false, 'the files are gone');
    const jobs = async () => (await operations.listJobs({})).jobs.length;
    t.equal(await jobs(), 0, 'the service has forgotten the job');
    await page.reload();
    await page.waitForSelector('#examples button');
    t.equal(await page.isVisible('#welcome'), true, 'and so has the page');

    // One that the service has lost is submitted again.
    const again = await holdJobs(page);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await page.waitForSelector('#busy-kept:not([hidden])');
    await operations.deleteJob(again.ids[0]!);
    await again.reload();
    await untilAnswered(page);
    t.not(again.ids[0], ids[0]);

    const last = await holdJobs(page);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await page.waitForSelector('#busy-kept:not([hidden])');
    const gone = page.waitForRequest((request) => request.method() === 'DELETE');
    await page.getByRole('button', { name: 'Cancel' }).first().click();
    t.match((await gone).url(), new RegExp(`/v1/jobs/${last.ids[0]}$`), 'the job is stopped');
    await page.waitForSelector('#busy', { state: 'hidden' });
    t.equal(await page.isVisible('#problem'), false, 'which is no error');
    await last.reload();
    await page.waitForSelector('#examples button');
    t.equal(await page.isVisible('#welcome'), true);
  });

  await t.test('the path of a mesh with more than 20,000 vertices', async (t) => {
    const grains = 20_001 - 8;
    const beside = Array.from({ length: grains }, (_, i) => `v ${2 + (i % 200)} ${Math.floor(i / 200)} 0\n`).join('');
    const ids = Array.from({ length: grains }, (_, i) => `p ${i + 9}\n`).join('');
    const with_ = (low: number) => squares(low, 0.5).replace('f', `${beside}f`).concat(ids);
    const page = await open(t);
    await page.setInputFiles('#files', [fileOf('start.obj', with_(0)), fileOf('target.obj', with_(1))]);
    await page.selectOption('#quality', 'FAST');
    await resolve(page);
    await untilAnswered(page);
    await page.locator('#slider').fill('0.5');
    t.match(await page.textContent('#place'), /forward, step \d+/, 'a state that was judged');
    const [states, end, answer] = await page.evaluate<[number, number[], number[]]>(`(() => {
      const { path, answer } = interstice.explorer.study;
      return [path.length, ...[path.at(-1), answer.positions].map((all) => [...all.subarray(0, 24)])];
    })()`);
    t.ok(states > 2, `${states} states`);
    t.equal(await page.locator('#no-path').count(), 0);
    t.same(end, answer, 'which ends with the answer');
  });

  await t.test('a path that is too large for one message is missing, which is said', async (t) => {
    const page = await open(t);
    const asked: boolean[] = [];
    await page.route(/\/v1\/jobs$/, async (route) => {
      asked.push((route.request().postDataJSON() as { resolve: { include: { path: boolean } } }).resolve.include.path);
      if (asked.length > 1) return route.fallback();
      await route.fulfill({ status: 413, json: { code: 'TOO_LARGE', message: 'The path is too large.', hint: '' } });
    });
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    t.same(asked, [true, false]);
    t.match(await page.textContent('#no-path'), /straight way from the start to the answer, which was not tested/);
    await page.locator('#slider').fill('0.5');
    t.match(await page.textContent('#place'), /50\s%/);
  });

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

  await t.test('seams are welded, and ids stay', async (t) => {
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

  await t.test('explain through a service writes what the page shows', async (t) => {
    const folder = t.testdir({ 'start.obj': squares(0, 0.5), 'target.obj': squares(1, 0.5) });
    const argv = ['explain', 'start.obj', 'target.obj', '-o', 'report.html', '--server', address];
    const { status, stderr } = await run(argv, { cwd: folder });
    t.equal(status, 0, stderr);
    const page = await open(t, {}, `file://${folder}/report.html`);
    t.match(await page.textContent('#result'), /converged.*Intersecting pairs in the target0/);
    t.ok((await page.evaluate<number>('interstice.explorer.study.path.length')) > 2, 'with the path of the service');
  });
});
