import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPORT_FORMAT, REPORT_ID, withReport } from '../../src/page/report-format.js';
import { ensurePage } from '../support/built-page.js';
import { run } from './in-process.js';
import { sheetVertices, verticesOf, writeSheets } from './sheets.js';

await ensurePage();

const lowerIsKinematic = ['--kinematic-from', String(sheetVertices)];

/** The data in a report, as the page reads it. */
function dataIn(folder: string, name: string) {
  const html = readFileSync(join(folder, name), 'utf8');
  const [, text] = new RegExp(`<script type="application/json" id="${REPORT_ID}">(.*?)</script>`, 's').exec(html)!;
  return { html, data: JSON.parse(text!) };
}

const positionsIn = (field: { data: string }): number[] => {
  const bytes = Buffer.from(field.data, 'base64');
  return [...new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))];
};

// Pictures and engines beside other work take their time.
t.setTimeout(600_000);

t.test('a report holds what was asked and what was answered, in one file', async (t) => {
  const cwd = writeSheets(t.testdir());
  const argv = [
    'explain',
    'start.obj',
    'through.obj',
    '-o',
    'report.html',
    '--picture',
    'picture.png',
    ...lowerIsKinematic,
  ];
  const { status, stdout, stderr } = await run(argv, { cwd });
  t.ok(status === 0 || status === 4, stderr);
  t.match(stdout, /written +report\.html, picture\.png/);
  const { html, data } = dataIn(cwd, 'report.html');
  t.match(data, { format: REPORT_FORMAT, title: 'start.obj → through.obj', up: 'z' });
  const start = verticesOf(readFileSync(join(cwd, 'start.obj'), 'utf8')).flat();
  t.strictSame(positionsIn(data.request.start), start);
  await run(['resolve', 'start.obj', 'through.obj', '-o', 'answer.obj', ...lowerIsKinematic], { cwd });
  t.strictSame(
    positionsIn(data.response.positions),
    verticesOf(readFileSync(join(cwd, 'answer.obj'), 'utf8')).flat(),
    'the answer is that of resolve',
  );
  t.ok(data.response.contacts && data.response.vertices && data.response.path, 'with contacts, vertices and path');
  t.match(data.checks.target, { intersectionFree: Boolean });
  t.notMatch(
    html.replace(/<script type="application\/json".*?<\/script>/s, ''),
    /<(script|link|img)[^>]+(src|href)="https?:/,
  );
  t.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
  const picture = readFileSync(join(cwd, 'picture.png'));
  t.equal(picture.subarray(1, 4).toString(), 'PNG');
  t.equal(picture.readUInt32BE(16), 3 * 480 + 2 * 6, 'three panels');
});

t.test('a start that is refused is explained as well', async (t) => {
  const cwd = writeSheets(t.testdir());
  const argv = ['explain', 'crossing.obj', 'free.obj', '-o', 'report.html'];
  const { status, stderr } = await run(argv, { cwd });
  t.equal(status, 3, stderr);
  t.match(stderr, /INTERSECTING_START/);
  const { data } = dataIn(cwd, 'report.html');
  t.equal(data.response, undefined);
  t.match(data.error, { code: 'INTERSECTING_START', message: String, hint: String });
  t.ok(data.error.pairs.length > 0, 'with the pairs');
  t.equal(data.checks.start.intersectionFree, false);
});

t.test('a picture has y up where the file has', async (t) => {
  const cwd = writeSheets(t.testdir());
  const files = ['start.obj', 'free.obj'];
  for (const name of files) {
    // The same sheets with y and z exchanged, so that y is up.
    const turned = readFileSync(join(cwd, name), 'utf8').replace(
      /^v (\S+) (\S+) (\S+)$/gm,
      (_, x, y, z) => `v ${x} ${z} ${-y}`,
    );
    writeFileSync(join(cwd, `y-${name}`), turned);
  }
  const picture = async (name: string, up: string) => {
    // A start that is refused: what there is to draw is known without an answer.
    await run(['explain', name, name, '-o', 'r.html', '--picture', 'p.png', '--up', up], { cwd });
    return readFileSync(join(cwd, 'p.png'));
  };
  const picked = await picture('crossing.obj', 'z');
  t.equal(picked.readUInt32BE(16), 2 * 480 + 6, 'two panels: there is no answer');
  t.ok(picked.equals(await picture('turned.obj', 'y')), 'the picture is the same');
});

t.test('what a report cannot be is refused before anything is computed', async (t) => {
  const cwd = writeSheets(t.testdir());
  const cases: [string[], RegExp][] = [
    [['explain', 'start.obj', 'free.obj'], /required option '-o, --output <FILE>'/],
    [['explain', 'start.obj', 'free.obj', '-o', 'start.obj'], /overwrite the input/],
    [['explain', 'start.obj', 'free.obj', '-o', 'r.txt'], /must end in \.html/],
    [['explain', 'start.obj', 'free.obj', '-o', 'r.html', '--picture', 'p.jpg'], /must end in \.png/],
    [['explain', 'start.obj', 'free.obj', '-o', 'missing/r.html'], /folder missing does not exist/],
  ];
  for (const [argv, message] of cases) t.match(await run(argv, { cwd }), { status: 2, stderr: message });
});

t.test('no text in a report becomes markup', async (t) => {
  const report = {
    format: REPORT_FORMAT,
    title: '</script><script>alert(1)</script><!--',
    version: '',
    request: {},
    checks: {},
  } as const;
  const html = withReport('<p><!-- data --></p>', report);
  t.equal(html.match(/<script/g)?.length, 1);
  t.equal(html.match(/<\/script>/g)?.length, 1);
  t.notMatch(html, /<!--/);
  const text = /id="[\w-]+">(.*)<\/script>/s.exec(html)?.[1] ?? '';
  t.equal(JSON.parse(text).title, report.title, 'and it is read back as it was');
  t.throws(() => withReport('<p></p>', report), /no place/);
});
