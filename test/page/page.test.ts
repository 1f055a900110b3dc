import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeIO } from '@gltf-transform/core';
import { pino } from 'pino';
import t from 'tap';
import { writeCertificate } from '../../src/cli/certificate.js';
import { readConfig } from '../../src/config/config.js';
import { projectRoot } from '../../src/paths.js';
import { startServer } from '../../src/server/server.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { run } from '../cli/in-process.js';
import { openOperations } from '../conformance/run.js';
import { ensurePage } from '../support/built-page.js';
import { openBrowser, skipWithoutChromium } from '../support/chromium.js';
import { runJob } from '../support/job.js';
import { compareWithBaseline } from './baseline.js';
import { fileOf, openPageService, resolve, squares, textOnce, untilAnswered } from './open-page.js';
import { squaresOfGltf } from './squares-gltf.js';

/** The page as a person uses it: in a browser, on a real service with the CPU engine. */

const pairFiles = (pair: string) =>
  ['start.obj', 'target.obj', 'options.json'].map((name) =>
    fileOf(name, readFileSync(join(projectRoot, 'examples', 'pairs', pair, name), 'utf8')),
  );

/** A triangle across another one. */
const crossed = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -1\nv 0.2 0.2 1\nv 0.3 0.3 1\nf 1 2 3\nf 4 5 6\n';

t.test('the page in a browser', { skip: skipWithoutChromium }, async (t) => {
  const { operations, open } = await openPageService(t);

  await t.test('one click on an example shows answer, path slider, target, legend and vertex details', async (t) => {
    const page = await open(t);
    await page.getByRole('button', { name: 'Cloth over a spike' }).click();
    await untilAnswered(page);
    t.match(await page.textContent('#result'), /converged/);
    t.match(await page.textContent('#place'), /answer/);
    t.match(await page.textContent('#ticks'), /mm/, 'the legend has a unit');
    await page.locator('#slider').fill('0.5');
    t.match(await page.textContent('#place'), /, step \d+/, 'a state of the real path');
    await page.getByTitle('Target (G)').click();
    t.equal(await page.textContent('#place'), 'target');
    await page.selectOption('#field', 'intersections');
    t.match(await page.textContent('#legend-text'), /intersecting pairs/);
    t.match(await page.textContent('#result'), /Intersecting pairs in the target[1-9]/, 'the target is checked');
    await page.keyboard.press('Home');
    t.equal(await page.textContent('#place'), 'start');
    await page.keyboard.press('End');
    const box = (await page.locator('#view').boundingBox())!;
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    t.match(await page.textContent('#vertex'), /Vertex \d+.*Why it is there.*target/);
    t.equal(await page.getAttribute('#tab-vertex', 'aria-selected'), 'true', 'its pane is shown');
    t.match(await page.textContent('#scene-text'), /Vertex \d+ is chosen/, 'and it is said');
    await page.mouse.click(box.x + box.width - 20, box.y + 20);
    t.match(await page.textContent('#vertex'), /Click a vertex/, 'the background is no vertex');

    await t.test('the page draws nothing while nothing changes', async (t) => {
      const frames = 'interstice.explorer.stage.viewer.frames';
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
      const before = await page.evaluate<number>(frames);
      t.ok(before > 0);
      await page.evaluate(
        'new Promise((resolve) => { let n = 20; const next = () => (n-- ? requestAnimationFrame(next) : resolve()); next(); })',
      );
      t.equal(await page.evaluate<number>(frames), before);
    });
  });

  await t.test('the sand is seen in its bowl, and the next example from the usual place', async (t) => {
    const page = await open(t);
    const eye = () =>
      page.evaluate<number[]>('interstice.explorer.stage.viewer.camera.position.clone().normalize().toArray()');
    const usual = await eye();
    await page.getByRole('button', { name: 'Sand' }).click();
    await untilAnswered(page);
    // The grains are the first vertices.
    const seen = await page.evaluate<number>(`(() => {
      const { left, top, width, height } = document.getElementById('view').getBoundingClientRect();
      let seen = 0;
      for (let i = 1; i < 40; i++) for (let k = 1; k < 40; k++) {
        seen += interstice.explorer.stage.pickAt(left + (i / 40) * width, top + (k / 40) * height) < 1440 ? 1 : 0;
      }
      return seen;
    })()`);
    t.ok(seen > 20, `grains at ${seen} of 1521 places`);
    await page.getByRole('link', { name: 'Interstice' }).click();
    await page.getByRole('button', { name: 'Swapped layers' }).click();
    await page.waitForSelector('#tools:not([hidden])');
    t.same((await eye()).map(Math.fround), usual.map(Math.fround));
  });

  await t.test('dropped files become a pair, in the order of their names', async (t) => {
    const page = await open(t);
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(squares(1, 0.5))}], 'b-target.obj'));
      transfer.items.add(new File([${JSON.stringify(squares(0, 0.5))}], 'a-start.obj'));
      return transfer;
    })()`);
    await page.dispatchEvent('#stage', 'dragenter', { dataTransfer: transfer });
    t.ok(await page.isVisible('#drop'), 'it says where to drop');
    await page.dispatchEvent('#stage', 'drop', { dataTransfer: transfer });
    await page.waitForSelector('#open-dialog[open]');
    t.match(await page.textContent('#file-start'), /a-start\.obj, 8/);
    t.match(await page.textContent('#file-target'), /b-target\.obj/);
    await page.getByRole('button', { name: 'Swap', exact: true }).click();
    t.match(await page.textContent('#file-start'), /b-target\.obj/);
    await page.getByRole('button', { name: 'Swap', exact: true }).click();
    await resolve(page);
    await untilAnswered(page);
    t.match(await page.textContent('#title'), /a-start\.obj → b-target\.obj/);
    await page.getByRole('tab', { name: 'Parts' }).click();
    const boxes = page.locator('#parts input[type="checkbox"]');
    t.equal(await boxes.count(), 2, 'two surfaces');
    const shown = 'interstice.explorer.stage.visibleTriangles';
    t.equal(await page.evaluate<number>(shown), 4);
    await boxes.first().uncheck();
    t.equal(await page.evaluate<number>(shown), 2, 'a hidden part is not drawn');
    await boxes.first().check();
    await page.selectOption('#field', 'parts');
    await page.keyboard.press('Home');
    t.equal(await page.textContent('#place'), 'start', 'keys work beside a box');
    await compareWithBaseline(t, page);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save answer' }).click();
    const saved = readFileSync(await (await download).path(), 'utf8');
    t.equal(saved.match(/^v /gm)?.length, 8);
    t.match(saved, /^f 5 7 8$/m);
  });

  await t.test('a glTF file with a morph target is a pair, and so are two glTF files', async (t) => {
    const page = await open(t);
    /** As a browser hands files over that are dropped. */
    const drop = async (...files: readonly { readonly name: string; readonly buffer: Buffer }[]) => {
      const plain = files.map(({ name, buffer }) => ({ name, base64: buffer.toString('base64') }));
      const transfer = await page.evaluateHandle(`(() => {
        const transfer = new DataTransfer();
        for (const { name, base64 } of ${JSON.stringify(plain)}) {
          transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
        }
        return transfer;
      })()`);
      await page.dispatchEvent('#stage', 'drop', { dataTransfer: transfer });
    };
    await drop({ name: 'layers.glb', buffer: Buffer.from(await new NodeIO().writeBinary(squaresOfGltf())) });
    await page.waitForSelector('#open-dialog[open]');
    t.match(await page.textContent('#file-start'), /^layers\.glb, 8\svertices/);
    t.match(await page.textContent('#file-target'), /^layers\.glb#Press, 8/);
    t.same(await page.locator('#morph option').allTextContents(), ['none', 'Press', 'Part']);
    await page.selectOption('#morph', '');
    t.equal(await page.textContent('#file-target'), 'none');
    await page.selectOption('#morph', 'Press');
    await resolve(page);
    await untilAnswered(page);
    t.match(await page.textContent('#title'), /layers\.glb → layers\.glb#Press/);
    t.match(
      await page.textContent('#result'),
      /Intersecting pairs in the target[1-9]/,
      'one square passes through the other there',
    );
    t.match(await page.textContent('#result'), /Intersections in the answer0/);

    // Another file whose node stands elsewhere; its buffer is in a file of its own.
    const moved = squaresOfGltf();
    moved.getRoot().listNodes()[0]!.setTranslation([0, 0, 0.25]);
    const { json, resources } = await new NodeIO().writeJSON(moved, { basename: 'moved data' });
    const [[bin, bytes]] = Object.entries(resources) as [[string, Uint8Array]];
    const gltf = { name: 'moved.gltf', buffer: Buffer.from(JSON.stringify(json)) };
    await drop(gltf);
    await page.waitForSelector('#problem:not([hidden])');
    t.match(await page.textContent('#problem-text'), /moved\.gltf: .*moved.data.*was not opened with it/);
    await drop(gltf, { name: decodeURIComponent(bin), buffer: Buffer.from(bytes) });
    await page.waitForSelector('#open-dialog[open]');
    t.match(await page.textContent('#file-target'), /^moved\.gltf, 8/, 'a file takes the place of a morph target');
    await resolve(page);
    await untilAnswered(page);
    const state = (name: 'start' | 'target') =>
      page
        .evaluate<number[]>(`[...interstice.explorer.study.${name}]`)
        .then((all) => all.filter((_, i) => i % 3 === 2));
    t.same(await state('start'), [0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5]);
    t.same(await state('target'), [0.25, 0.25, 0.25, 0.25, 0.75, 0.75, 0.75, 0.75], 'the transform of the node');
    t.match(await page.textContent('#result'), /converged/);
    // The buffer within the file, as a data URI.
    const [buffer] = json.buffers!;
    buffer!.uri = `data:application/octet-stream;base64,${Buffer.from(bytes).toString('base64')}`;
    await drop({ name: 'inside.gltf', buffer: Buffer.from(JSON.stringify(json)) });
    await page.waitForSelector('#open-dialog[open]');
    t.match(await page.textContent('#file-start'), /^inside\.gltf, 8/);
  });

  await t.test('the page confirms a certificate offline and refuses a changed one', async (t) => {
    const folder = t.testdir({ 'start.obj': squares(0, 0.5), 'target.obj': squares(1, 0.5) });
    const file = join(folder, 'answer.certificate');
    const { status, stderr } = await run([
      'certify',
      join(folder, 'start.obj'),
      join(folder, 'target.obj'),
      '-o',
      file,
    ]);
    t.equal(status, 0, stderr);
    // The page in one file has no service, and its policy allows no connection.
    const page = await open(t, {}, `file://${join(projectRoot, 'dist', 'page', 'interstice.html')}`);
    const drop = (name: string, buffer: Buffer) =>
      page.setInputFiles('#files', [{ name, mimeType: 'application/octet-stream', buffer }]);
    const bytes = readFileSync(file);
    await drop('answer.certificate', bytes);
    await page.waitForSelector('#certificate');
    t.match(
      await page.textContent('#certificate'),
      /certificate confirmed.*does anything intersect.*does anything collide/,
    );
    t.match(await page.textContent('#result'), new RegExp(createHash('sha256').update(bytes).digest('hex')));
    t.equal(await page.isVisible('#problem'), false);
    t.equal(await page.textContent('#place'), 'answer');
    const states = await page.evaluate<number>('interstice.explorer.study.path.length');
    t.ok(states > 2, `${states} states`);
    await page.locator('#slider').fill('0.5');
    t.match(await page.textContent('#place'), /, step \d+/, 'its path is on the slider');
    t.match(await page.textContent('#legend-text'), /from its start/);

    t.match(await page.textContent('#legend-missing'), /no colours for gaps and intersections/);

    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(changed.length - 12) ^ 1, changed.length - 12);
    await drop('changed.certificate', changed);
    await page.waitForSelector('#problem:not([hidden])');
    t.equal(await page.textContent('#problem-title'), 'Certificate refused');
    t.match(await page.textContent('#problem-text'), /changed\.certificate: The array states was changed/);

    // One whose hashes are right, of a path on which the lower square passes through the upper one.
    const at = (low: number) => Float32Array.from([low, 0.5].flatMap((z) => [0, 0, z, 1, 0, z, 1, 1, z, 0, 1, z]));
    const [start, target] = [at(0), at(1)];
    const mesh = { vertexCount: 8, triangles: Uint32Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7) };
    const { answer } = await runJob({ mesh, start, target: start, parameters: {} }, createCpuEngine());
    const path = {
      phases: Uint8Array.of(1, 5),
      steps: Uint32Array.of(0, 1),
      positions: Float32Array.from([...start, ...target]),
    };
    const lie = writeCertificate({ mesh, start, target, parameters: {} }, { ...answer, positions: target }, path);
    await drop('lie.certificate', Buffer.concat([...lie]));
    await page.waitForSelector('#certificate .bad');
    t.match(await page.textContent('#problem-text'), /lie\.certificate: Piece 0, from state 0 to state 1: .* may meet/);
    t.match(await page.textContent('#certificate'), /certificate refused.*Do not rely on/);
    t.match(await page.textContent('#title'), /lie\.certificate/);
  });

  await t.test('a refusal is shown with its hint and its location in the mesh', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', [fileOf('start.obj', crossed), fileOf('target.obj', crossed)]);
    await resolve(page);
    await page.waitForSelector('#problem:not([hidden])');
    t.equal(await page.textContent('#problem-title'), 'Intersecting start');
    t.ok((await page.textContent('#problem-hint'))?.length, 'with a hint');
    await page.getByRole('button', { name: 'Show where' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    t.equal(await page.isVisible('#problem'), false);
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.waitForSelector('#diagnosis');
    t.match(await page.textContent('#diagnosis-verdict'), /would be refused: 1\sproblem\./);
    t.match(await page.textContent('#diagnosis li'), /Problem: .*intersect/);
    await page.locator('#diagnosis').getByRole('button', { name: /^Show/ }).first().click();
  });

  await t.test('options belong to their mesh: another mesh begins without them', async (t) => {
    const page = await open(t);
    const pair = (obj: (low: number, high: number) => string) => [
      fileOf('start.obj', obj(0, 0.5)),
      fileOf('target.obj', obj(1, 0.5)),
    ];
    const options = { parameters: { quality: 'FAST', stepLimit: 3 }, kinematicFrom: 4 };
    const drop = async (files: ReturnType<typeof pair>) => {
      await page.setInputFiles('#files', files);
      await page.waitForSelector('#open-dialog[open]');
      return page.inputValue('#kinematic');
    };
    t.equal(await drop([...pair(squares), fileOf('options.json', JSON.stringify(options))]), '4');
    await page.keyboard.press('Escape');
    t.equal(await drop(pair(squares)), '4', 'the same mesh again');
    await page.keyboard.press('Escape');
    const turned = (low: number, high: number) => squares(low, high).replace('f 1 2 3\nf 1 3 4', 'f 1 2 4\nf 2 3 4');
    t.equal(await drop(pair(turned)), '', 'another mesh with as many vertices');
    await page.keyboard.press('Escape');
    t.equal(await drop([...pair(squares), fileOf('options.json', JSON.stringify(options))]), '4');
    await page.keyboard.press('Escape');
    const named = [fileOf('other.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];
    t.equal(await drop(named), '', 'a mesh of another name');
    await page.keyboard.press('Escape');
    const withBad = [fileOf('bad.obj', 'v 0 0 nonsense\n'), fileOf('options.json', JSON.stringify(options))];
    await page.setInputFiles('#files', withBad);
    await page.waitForSelector('#problem:not([hidden])');
    t.equal(await page.inputValue('#kinematic'), '', 'options of a file that cannot be read are not taken');
    await page.keyboard.press('Escape');
    t.ok(await page.isHidden('#problem'), 'Escape closes a message, too');
    t.equal(await drop([...pair(squares), fileOf('options.json', JSON.stringify(options))]), '4');
    await page.keyboard.press('Escape');
    t.equal(await drop(pair((low, high) => `${squares(low, high)}v 9 9 9\n`)), '', 'another mesh');
    t.equal(await page.inputValue('#quality'), 'BALANCED');
    await page.fill('#kinematic', '10');
    await resolve(page);
    t.match(await textOnce(page, '#open-note', 'vertex 10'), /ids 0 to 8/);
  });

  await t.test('a file that is no mesh is refused by name', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', [fileOf('start.obj', 'v 0 0 nonsense\n')]);
    await page.waitForSelector('#problem:not([hidden])');
    t.match(await page.textContent('#problem-text'), /start\.obj: .*nonsense/);
    const said = async (files: ReturnType<typeof fileOf>[], word: string) => {
      await page.keyboard.press('Escape');
      await page.setInputFiles('#files', files);
      const text = await textOnce(page, '#problem:not([hidden]) #problem-text', word);
      t.equal(await page.isVisible('#open-dialog'), false, word);
      return text;
    };
    const pair = [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];
    t.equal(await said([fileOf('start.obj', ''), pair[1]!], 'vertices'), 'start.obj: The file has no vertices.');
    t.match(await said([fileOf('cloth.png', 'x')], 'cloth'), /^cloth\.png is no mesh, but belongs to a \.gltf file/);
    t.match(await said([...pair, fileOf('a.json', '{}'), fileOf('b.json', '{}')], 'options'), /several were chosen/);
    const images = ['a', 'b'].map((text) => fileOf('cloth.png', text));
    t.match(await said([...pair, ...images], 'cloth'), /^Two files are called cloth\.png/);
  });

  await t.test('two files of one name are a pair, in the order in which they were chosen', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', [fileOf('cloth.obj', squares(0, 0.5)), fileOf('cloth.obj', squares(1, 0.5))]);
    t.match(await textOnce(page, '#file-target', 'cloth'), /^cloth\.obj, 8\svertices$/);
    await resolve(page);
    await untilAnswered(page);
    const heights = await page.evaluate<number[]>(
      '[interstice.explorer.study.start[2], interstice.explorer.study.target[2]]',
    );
    t.same(heights, [0, 1]);
  });

  await t.test(
    'the dialog names the options that it has no fields for, and sends words that it does not know',
    async (t) => {
      const page = await open(t);
      const pair = [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];
      const options = { parameters: { quality: 'GREAT', stepLimit: 7 }, kinematicVertices: [1, 2] };
      await page.setInputFiles('#files', [...pair, fileOf('options.json', JSON.stringify(options))]);
      t.equal(await textOnce(page, '#open-dialog[open] #file-options', 'step'), 'stepLimit 7, 2 kinematicVertices');
      await resolve(page);
      t.match(await textOnce(page, '#problem:not([hidden]) #problem-text', 'GREAT'), /quality is "GREAT"/);
      await page.setInputFiles('#files', [...pair, fileOf('options.json', '{"parameters":null}')]);
      await page.waitForSelector('#open-dialog[open]');
      t.equal(await page.isVisible('#file-options-row'), false);
    },
  );

  await t.test('the page works in dark and light colours and on a phone', async (t) => {
    const page = await open(t, { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
    const theme = () => page.getAttribute('html', 'data-theme');
    t.equal(await theme(), 'dark', 'as the system says');
    await page.getByRole('button', { name: 'Dark or light' }).click();
    t.equal(await theme(), 'light');
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    t.ok((await width()) <= 390, 'nothing is wider than the screen');
    await page.setInputFiles('#files', [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))]);
    await resolve(page);
    await untilAnswered(page);
    t.ok((await width()) <= 390, 'nor with an answer');
    for (const id of ['slider', 'field', 'tab-vertex', 'show-target']) t.ok(await page.isVisible(`#${id}`), id);
  });

  await t.test('sessions of the service appear with their frames', async (t) => {
    const page = await open(t);
    await page.getByRole('tab', { name: 'Sessions' }).click();
    await page.waitForSelector('text=no open session');
    const start = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1]);
    const mesh = { vertexCount: 6, triangles: new Uint32Array([0, 1, 2, 3, 4, 5]) };
    const session = await operations.createSession({ mesh, start, parameters: {}, label: 'Two triangles' });
    await page.waitForSelector('text=Two triangles');
    await operations.step({ sessionId: session.id, target: start.map((value) => value * 1.01) });
    await page.waitForSelector('#sessions dt:text-is("Frame") + dd:text-is("1")');
    t.match(await page.textContent('#sessions'), /Proximity set\d+\spairs/);
    // A list that does not fit into one answer comes page by page.
    await page.route(/\/v1\/sessions(\?|$)/, (route, request) => {
      const url = new URL(request.url());
      url.searchParams.set('pageSize', '1');
      return route.continue({ url: url.href });
    });
    const other = await operations.createSession({ mesh, start, parameters: {}, label: 'The same again' });
    await page.waitForSelector('#sessions li.session:nth-child(2) >> text=The same again');
    for (const { id } of [session, other]) await operations.deleteSession(id);
    await page.waitForSelector('text=no open session');
  });

  await t.test('a report in one file opens without a service', async (t) => {
    const folder = t.testdir({
      'start.obj': squares(0, 0.5),
      'target.obj': squares(1, 0.5),
      'bad.obj': squares(0.5, 0.5),
    });
    const files = (start: string) => [join(folder, start), join(folder, 'target.obj')];
    const report = join(folder, 'report.html');
    const { stderr } = await run(['explain', ...files('start.obj'), '-o', report]);
    t.equal(stderr, '');
    const page = await open(t, {}, `file://${report}`);
    t.equal(await page.isVisible('#legend-missing'), false, 'a report holds what the service found');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    t.match(await page.textContent('#title'), /start\.obj → target\.obj/);
    t.match(await page.textContent('#result'), /Largest stretch/);
    t.equal(await page.evaluate<number>('interstice.explorer.stage.visibleTriangles'), 4);
    t.same(
      asked.filter((url) => !/^(file|data|blob):/.test(url)),
      [],
      'nothing is loaded from elsewhere',
    );
    await page.setInputFiles('#files', [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))]);
    await resolve(page);
    await page.waitForSelector('#legend-missing:not([hidden])');
    t.match(await page.textContent('#legend-missing'), /gaps and intersections: only a service can compute them/);

    const other = readFileSync(report, 'utf8').replace('"format":"interstice-report-1"', '"format":"other"');
    writeFileSync(join(folder, 'other.html'), other);
    const unknown = await open(t, {}, `file://${join(folder, 'other.html')}`);
    t.match(await unknown.textContent('#problem-text'), /unknown format other/);
    t.equal(await unknown.textContent('#problem-hint'), '', 'WebGL is not to blame');
    // The library says the failure on the console as well.
    await unknown.removeAllListeners('console');
    await unknown.addInitScript('HTMLCanvasElement.prototype.getContext = () => null');
    await unknown.reload();
    t.equal(await unknown.textContent('#problem-hint'), 'This page needs a browser with WebGL 2.');
  });
});

t.test(
  'a service with keys asks for a key, and again if the key is wrong',
  { skip: skipWithoutChromium },
  async (t) => {
    await ensurePage();
    const { makeKey } = await import('../../src/transport/auth/key-file.js');
    const key = makeKey('red');
    const settings = {
      ...{ INTERSTICE_HTTP_PORT: '0', INTERSTICE_GRPC_PORT: 'off', INTERSTICE_ADMIN_PORT: 'off' },
      INTERSTICE_API_KEYS: join(t.testdir({ keys: `${key.line}\n` }), 'keys'),
    };
    const options = { log: pino({ level: 'silent' }), handleSignals: false };
    const server = await startServer(readConfig(settings), await openOperations(t), options);
    t.teardown(() => server.close());
    const page = await (await openBrowser(t))(t);
    await page.goto(server.address);
    await page.setInputFiles('#files', pairFiles('spike').slice(0, 2));
    await resolve(page);
    await page.waitForSelector('#key-dialog[open]');
    await page.fill('#key', 'wrong');
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.waitForSelector('text=did not accept this key');
    await page.fill('#key', key.key);
    await page.getByRole('button', { name: 'Use it' }).click();
    await untilAnswered(page);
    t.match(await page.textContent('#result'), /converged/);
  },
);
