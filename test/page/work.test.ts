import type { Page, Request, Route } from 'playwright-core';
import t from 'tap';
import { skipWithoutChromium } from '../support/chromium.js';
import {
  fileOf,
  openPageService,
  openTangled,
  refusal,
  resolve,
  saveAs,
  squares,
  textOnce,
  untilAnswered,
} from './open-page.js';

/** Work with the page: untangled starts, long resolves as jobs, and paths of large meshes. */

/** Questions for the state of a job. */
const QUESTION = /\/v1\/jobs\/[^/]+\?wait=/;

/** Layouts beside and below each other. */
const VIEWPORTS = [
  [1400, 900],
  [1024, 640],
  [768, 1024],
  [360, 740],
] as const;

const RESOLVING = { steps: 7, residual: 0.25, unfinishedVertices: 3 };

const coveredByProgress = `(() => {
  const boundsOf = (id) => document.getElementById(id).getBoundingClientRect();
  const busy = boundsOf('busy');
  return ['legend', 'tools'].filter((id) => {
    const { left, right, top, bottom } = boundsOf(id);
    return left < busy.right && busy.left < right && top < busy.bottom && busy.top < bottom;
  });
})()`;

// A browser and an engine beside other work take their time.
t.setTimeout(600_000);

t.test('work in the page', { skip: skipWithoutChromium }, async (t) => {
  const { operations, open } = await openPageService(t);
  const pair = [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];

  /** Answers the page's first question as if the job ran, and the next never, until it is loaded again; `ids` are those it asked for. */
  const holdJobs = async (page: Page, told: object = { progress: RESOLVING }) => {
    const ids: string[] = [];
    let isHeld = true;
    await page.route(QUESTION, async (route: Route) => {
      if (!isHeld) return route.fallback();
      const id = /jobs\/([^?]+)/.exec(route.request().url())![1]!;
      if (ids.push(id) > 1) return;
      const job = { id, state: 'JOB_RUNNING', phase: 'SOLVING', label: '', created: new Date().toISOString() };
      await route.fulfill({ json: { ...job, ...told, bytes: '0' } });
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
      await openTangled(page);
      await page.click('#untangle');
      t.match(await textOnce(page, '#untangled', 'free'), /no intersection/);
      t.match(await textOnce(page, '#contours', 'Contour 0'), /On the wrong side: 1\svertex and 1\svertex;/);
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

  await t.test(
    'an untangling obeys the order of parts that the user gave, and can be cancelled as a job',
    async (t) => {
      const page = await open(t);
      // As above, with named parts.
      const pierced = squares(0, 0.5)
        .replace('v 1 1 0.5', 'v 0.7 0.6 -0.2')
        .replace('f 1 2 3', 'o lower\nf 1 2 3')
        .replace('f 5 6 7', 'o upper\nf 5 6 7');
      await page.setInputFiles('#files', [fileOf('tangled.obj', pierced), fileOf('target.obj', squares(0, 0.5))]);
      await resolve(page);
      await page.waitForSelector('#problem:not([hidden])');
      await page.click('#problem-close');
      const dialog = page.locator('#layers-dialog');
      const untangle = dialog.getByRole('button', { name: 'Untangle' });
      const submitted = async () => {
        const request = page.waitForRequest((one) => one.method() === 'POST' && /\/v1\/jobs$/.test(one.url()));
        await untangle.click();
        return JSON.parse((await request).postData() ?? '').untangle.options.layers;
      };
      await page.click('#untangle');
      await dialog.getByRole('button', { name: 'Add a hint' }).click();
      t.same(await submitted(), [{ inner: 'lower', outer: 'upper', side: 'ALONG_NORMALS' }]);
      t.match(await textOnce(page, '#contours', 'Contour 0'), /1\svertex of upper; a layer hint says so/);
      t.match(await page.textContent('#untangled'), /no intersection/);

      await page.click('#untangle');
      await dialog.getByLabel('Side').selectOption('AGAINST_NORMALS');
      t.same(
        await submitted(),
        [{ inner: 'lower', outer: 'upper', side: 'AGAINST_NORMALS' }],
        'the hint is still there',
      );
      await textOnce(page, '#contours', 'Contour 0');
      await page.waitForSelector('#busy', { state: 'hidden' });
      await page.click('#untangle');
      await dialog.getByRole('button', { name: 'Remove this hint' }).click();
      await dialog.getByRole('button', { name: 'Cancel' }).click();

      const untangleProgress = { phase: 'UNTANGLING', iteration: 2, pierces: '9', contours: 1, regionVertices: 5 };
      const held = await holdJobs(page, { untangleProgress });
      await page.click('#untangle');
      t.same(await submitted(), [], 'a hint that was removed is gone');
      t.match(
        await textOnce(page, '#busy:not([hidden]) #busy-note', 'iteration 2'),
        /8\svertices, iteration 2, 9\spierces, 1\scontour/,
      );
      t.match(await page.textContent('#busy-text'), /The service untangles/);
      const gone = page.waitForRequest((request) => request.method() === 'DELETE');
      await page.click('#cancel');
      t.match((await gone).url(), new RegExp(`/v1/jobs/${held.ids[0]}$`), 'the job is stopped');
      await page.waitForSelector('#busy', { state: 'hidden' });
      t.equal(await page.isVisible('#problem'), false, 'which is no error');
      t.equal(await page.isEnabled('#untangle'), true);
    },
  );

  await t.test('an untangling survives a reload, and work that replaces it stops it', async (t) => {
    const page = await open(t);
    const usual = page.viewportSize()!;
    await openTangled(page);
    const untangleProgress = { phase: 'UNTANGLING', iteration: 2, pierces: '9', contours: 1, regionVertices: 5 };
    const isSubmission = (one: Request) => one.method() === 'POST' && /\/v1\/jobs$/.test(one.url());
    const submitted = () => page.waitForResponse((one) => isSubmission(one.request()));
    const deleted = () => page.waitForResponse((one) => one.request().method() === 'DELETE');
    let submissions = 0;
    page.on('request', (one) => {
      if (isSubmission(one)) submissions++;
    });

    const held = await holdJobs(page, { untangleProgress });
    await page.click('#untangle');
    await page.waitForSelector('#busy-kept:not([hidden])');
    for (const [width, height] of VIEWPORTS) {
      await page.setViewportSize({ width, height });
      const covered = await page.evaluate<string[]>(coveredByProgress);
      t.same(covered, [], `the progress covers neither legend nor tools at ${width} × ${height}`);
    }
    await page.setViewportSize(usual);
    const before = submissions;
    await held.reload();
    t.match(await textOnce(page, '#untangled', 'free'), /no intersection/);
    t.match(await page.textContent('#title'), /tangled\.obj → target\.obj/);
    t.equal(submissions, before, 'it was not submitted again');
    await page.waitForSelector('#busy', { state: 'hidden' });
    t.equal(await page.isEnabled('#untangle'), true);

    // One whose state the page is not told goes on: it is asked again with a key, or stopped when something else begins.
    const question = /\?wait=/;
    const forbid = () => page.route(question, (route) => route.fulfill(refusal(401, 'UNAUTHENTICATED', 'No key.')));
    const dialog = page.locator('#key-dialog');
    const refused = async () => {
      const [answer] = await Promise.all([submitted(), page.click('#untangle')]);
      await dialog.waitFor();
      await page.unroute(question);
      return ((await answer.json()) as { id: string }).id;
    };
    await forbid();
    const goesOn = await refused();
    await dialog.locator('#key').fill('any');
    const [ended] = await Promise.all([deleted(), dialog.locator('button[value="use"]').click()]);
    t.match(ended.url(), new RegExp(`/v1/jobs/${goesOn}$`), 'its answer has come');
    const lost = await holdJobs(page, { untangleProgress });
    await forbid();
    const id = await refused();
    await page.keyboard.press('Escape');
    const [gone] = await Promise.all([deleted(), submitted(), page.click('#untangle')]);
    t.match(gone.url(), new RegExp(`/v1/jobs/${id}$`), 'the first one is stopped');

    // The button is not free while a second one computes in place of the first.
    await page.waitForSelector('#contours button:has-text("Turn")');
    const replaced = await Promise.all([deleted(), submitted(), page.click('#contours button:has-text("Turn")')]);
    t.match(replaced[0].url(), new RegExp(`/v1/jobs/${lost.ids[0]}$`));
    await page.waitForSelector('#busy-kept:not([hidden])');
    t.equal(await page.isEnabled('#untangle'), false);
    await Promise.all([deleted(), page.click('#cancel')]);
    await page.waitForSelector('#busy', { state: 'hidden' });
    t.equal(await page.isEnabled('#untangle'), true);
    t.equal((await operations.listJobs({})).jobs.length, 0, 'nothing is left at the service');
  });

  await t.test('a resolve is a job: it shows its progress, survives a reload and can be cancelled', async (t) => {
    const page = await open(t);
    const { ids, reload } = await holdJobs(page);
    await page.setInputFiles('#files', pair);
    await page.fill('#delta', '0.02');
    await resolve(page);
    await page.waitForSelector('#busy-kept:not([hidden])');
    t.match(await page.textContent('#busy-text'), /The service computes/);
    // The job is kept before the page has asked for its progress.
    t.match(
      await textOnce(page, '#busy:not([hidden]) #busy-note', 'step'),
      /8\svertices, step 7, residual 0\.25, 3\svertices under way/,
    );
    await reload();
    await untilAnswered(page);
    t.match(await page.textContent('#title'), /start\.obj → target\.obj/);
    t.match(await page.textContent('#result'), /converged/);
    const jobs = async () => (await operations.listJobs({})).jobs.length;
    t.equal(await jobs(), 0, 'the service has forgotten the job');
    // The dialog has the files and the settings again.
    await page.click('#rerun');
    t.match(await page.textContent('#file-target'), /target\.obj, 8\svertices/);
    t.equal(await page.inputValue('#delta'), '0.02');
    const repeated = page.waitForRequest((one) => one.method() === 'POST' && /\/v1\/jobs$/.test(one.url()));
    await page.getByRole('button', { name: 'Resolve', exact: true }).click();
    t.equal(JSON.parse((await repeated).postData() ?? '').resolve.parameters.activationDistance, 0.02);
    await untilAnswered(page);
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

  await t.test('the page shows the path of a mesh with more than 20,000 vertices', async (t) => {
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

  await t.test('a result without room among the jobs is asked for again without its path', async (t) => {
    const page = await open(t);
    const asked: boolean[] = [];
    const pathOf = (request: Request) =>
      (request.postDataJSON() as { resolve: { include: { path: boolean } } }).resolve.include.path;
    await page.route(/\/v1\/jobs$/, async (route) => {
      asked.push(pathOf(route.request()));
      await route.fallback();
    });
    await page.route(QUESTION, async (route) => {
      if (asked.length > 1) return route.fallback();
      const error = { code: 'QUOTA_EXCEEDED', message: 'The result has no room.', hint: '', retryable: true };
      const id = /jobs\/([^?]+)/.exec(route.request().url())![1]!;
      const ended = new Date().toISOString();
      await route.fulfill({ json: { id, state: 'JOB_FAILED', label: '', created: ended, ended, bytes: '0', error } });
    });
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    t.same(asked, [true, false]);
    t.match(await page.textContent('#no-path'), /memory of the service for results/);
  });

  await t.test('a screen reader hears each phase once, and neither the clock nor the places of a path', async (t) => {
    const page = await open(t);
    await holdJobs(page);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await textOnce(page, '#busy:not([hidden]) #busy-note', 'step');
    // Writes the texts of all live regions that change from now on.
    await page.evaluate(`(() => {
      globalThis.heard = [];
      const live = '[aria-live]:not([aria-live="off"]), [role="status"], [role="alert"], output:not([aria-live="off"])';
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const region = (target.nodeType === 1 ? target : target.parentElement)?.closest(live);
          if (region) heard.push(region.id);
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    })()`);
    const heard = () => page.evaluate<string[]>('heard.splice(0)');
    const note = await page.textContent('#busy-note');
    await page.waitForSelector(`#busy-note:not(:text-is(${JSON.stringify(note)}))`);
    t.same(await heard(), [], 'the clock goes on in silence');
    t.equal(await page.getAttribute('#busy-text', 'role'), 'status');
    await page.click('#cancel');
    await page.unroute(QUESTION);
    await page.click('#rerun');
    await page.getByRole('button', { name: 'Resolve', exact: true }).click();
    await untilAnswered(page);
    await heard();
    await page.click('#play');
    await page.waitForSelector('#play[aria-pressed="false"]');
    const places = (await heard()).filter((id) => id === 'place').length;
    t.ok(places <= 1, `of a path that is played at most the end is read out, not ${places} places`);
    await page.keyboard.press('Home');
    await page.waitForSelector('#place:has-text("start")');
    t.ok((await heard()).includes('place'), 'a state that the user chooses is');
  });

  await t.test('what may succeed later is tried again on request', async (t) => {
    const page = await open(t);
    const { status, json } = refusal(429, 'QUEUE_FULL', 'The queue is full.');
    const refuse = (path: RegExp) =>
      page.route(path, (route) => route.fulfill({ status, json: { ...json, retryable: true } }));
    await refuse(/\/v1\/jobs$/);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await page.waitForSelector('#problem-again:not([hidden])');
    t.equal(await page.textContent('#problem-title'), 'Queue full');
    await page.unroute(/\/v1\/jobs$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await untilAnswered(page);
    t.equal(await page.isVisible('#problem'), false);

    await refuse(/\/v1\/diagnose/);
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.waitForSelector('#problem-again:not([hidden])');
    await page.unroute(/\/v1\/diagnose/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForSelector('#diagnosis');

    await openTangled(page, false);
    t.equal(await page.isVisible('#problem-again'), false, 'a refusal would be the same again');
  });

  await t.test('the result begins with whether the answer intersects', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    t.equal(await page.textContent('#verdict'), 'The answer is free of intersections, by the exact test.');
    const pierced = squares(0, 0.5).replace('v 1 1 0.5', 'v 0.7 0.6 -0.2');
    await page.setInputFiles('#files', [
      fileOf('a.obj', pierced),
      fileOf('b.obj', pierced.replace('v 0 0 0\n', 'v 0 0 -0.001\n')),
    ]);
    await page.selectOption('#on-start', 'IGNORE_PAIRS');
    await resolve(page);
    t.match(
      await textOnce(page, '#verdict', 'still'),
      /^\d+\spairs? of the start still intersects?; nothing else does\.$/,
    );
    t.notMatch(await page.textContent('#result'), /Intersections in the answer0/);
  });

  await t.test('the page says whether the smallest gap is large or was not measured', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    const gap = async (warnings: object[]) => {
      await page.evaluate(`(() => {
        const { explorer } = interstice;
        const { study } = explorer;
        const report = { ...study.answer.report, minDistance: undefined, warnings: ${JSON.stringify(warnings)} };
        explorer.amend({ ...study, answer: { ...study.answer, report } });
      })()`);
      return (await page.textContent('#result')) ?? '';
    };
    t.match(await gap([]), /Smallest gap–nothing is near/);
    const omitted = { code: 'MIN_DISTANCE_NOT_MEASURED', message: 'It is omitted.', count: 1 };
    t.match(await gap([omitted]), /Smallest gap–not measured/);
  });

  await t.test('the page says that a path is missing because it is too large for one message', async (t) => {
    const page = await open(t);
    const asked: boolean[] = [];
    await page.route(/\/v1\/jobs$/, async (route) => {
      asked.push((route.request().postDataJSON() as { resolve: { include: { path: boolean } } }).resolve.include.path);
      if (asked.length > 1) return route.fallback();
      await route.fulfill(refusal(413, 'TOO_LARGE', 'The path is too large.'));
    });
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    t.same(asked, [true, false]);
    t.match(await page.textContent('#no-path'), /straight line from the start to the answer, which was not tested/);
    await page.locator('#slider').fill('0.5');
    t.match(await page.textContent('#place'), /50\s%/);
  });
});
