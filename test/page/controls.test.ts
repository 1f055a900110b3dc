import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { run } from '../cli/in-process.js';
import { skipWithoutChromium } from '../support/chromium.js';
import {
  fileOf,
  openPageService,
  openTangled,
  refusal,
  resolve,
  squares,
  textOnce,
  untilAnswered,
} from './open-page.js';

/** The controls of the page: its dialogs, its player, its keys, and what is offered beside what is shown. */

/** A certificate of a pair of squares, as a file to open. */
const certificate = async (t: Test) => {
  const folder = t.testdir({ 'start.obj': squares(0, 0.5), 'target.obj': squares(1, 0.5) });
  const [start, target, file] = ['start.obj', 'target.obj', 'squares.certificate'].map((name) => join(folder, name));
  const { status, stderr } = await run(['certify', start!, target!, '-o', file!]);
  t.equal(status, 0, stderr);
  return [{ name: 'squares.certificate', mimeType: 'application/octet-stream', buffer: readFileSync(file!) }];
};

/** Words of the values beside the scene, and those that are broken between two lines. Runs in the page. */
const brokenWords = `(() => {
  let count = 0;
  const broken = [];
  for (const value of document.querySelectorAll('#result dd')) {
    const [text] = value.childNodes;
    if (text.nodeType !== Node.TEXT_NODE) continue;
    // No line ends at the narrow space between a number and its unit, or at a no-break space within a range.
    for (const { index, 0: word } of text.data.matchAll(/[^ ]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      count += word.split('\u00a0').length;
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  }
  return [count, broken];
})()`;

/** Visible controls above and below the scene whose middle is outside the window or behind something. Runs in the page. */
const unreachable = `[...document.querySelectorAll('.bar button, .bar select, #timeline button, #timeline input')]
  .filter((each) => each.checkVisibility())
  .filter((each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    return !found || !each.contains(found);
  })
  .map((each) => each.id)`;

/** Waits until an expression is true in the page. */
const until = (page: Page, condition: string) =>
  page.evaluate(`new Promise((resolve) => {
    const look = () => (${condition} ? resolve() : requestAnimationFrame(look));
    look();
  })`);

// A browser and an engine beside other work take their time.
t.setTimeout(600_000);

t.test('the controls of the page', { skip: skipWithoutChromium }, async (t) => {
  const { open } = await openPageService(t);
  const pair = [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))];

  await t.test('Enter does in a dialog what it is for, Cancel closes it, and its key is forgotten', async (t) => {
    const page = await open(t);
    const keys: (string | undefined)[] = [];
    await page.route(/\/v1\/jobs$/, async (route) => {
      const key = route.request().headers().authorization;
      keys.push(key);
      if (key) return route.fallback();
      await route.fulfill(refusal(401, 'UNAUTHENTICATED', 'No key.'));
    });
    const [opened, asked] = [page.locator('#open-dialog'), page.locator('#key-dialog')];
    await page.setInputFiles('#files', pair);
    await opened.waitFor();
    await opened.getByRole('button', { name: 'Cancel' }).click();
    await opened.waitFor({ state: 'hidden' });
    t.equal(await page.isVisible('#welcome'), true, 'nothing was resolved');

    await page.setInputFiles('#files', pair);
    await page.press('#delta', 'Enter');
    await asked.waitFor();
    t.equal(await opened.isVisible(), false);
    await page.fill('#key', 'not used');
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await asked.waitFor({ state: 'hidden' });
    await until(page, 'document.getElementById("key").value === ""');

    await page.keyboard.press('r');
    await page.press('#budget', 'Enter');
    await asked.waitFor();
    await page.fill('#key', 'mine');
    await page.press('#key', 'Enter');
    await untilAnswered(page);
    t.same(keys, [undefined, undefined, 'Bearer mine']);
    t.equal(await page.inputValue('#key'), '');
  });

  await t.test('the states of a certificate cannot be replaced by others under its verdict', async (t) => {
    const page = await open(t);
    await openTangled(page);
    t.equal(await page.isVisible('#untangle'), true);
    await page.setInputFiles('#files', await certificate(t));
    await page.waitForSelector('#certificate');
    t.equal(await page.isVisible('#untangle'), false);
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForSelector('#untangle:not([hidden])');
  });

  await t.test('a number that could be two numbers is refused in the dialog', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair);
    await page.fill('#kinematic', '1,000');
    await resolve(page);
    t.match(
      await textOnce(page, '#open-note', '1,000'),
      /Kinematic from vertex: “1,000” could be 1000 or 1\.000\. Write it without a comma\./,
    );
    t.equal(await page.isVisible('#open-dialog'), true);
  });

  await t.test('what is wrong with a file is said in the dialog; a certificate closes it', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.waitForSelector('#open-dialog[open]');
    await page.setInputFiles('#files', [fileOf('target.obj', 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n')]);
    t.match(await textOnce(page, '#open-note', 'has 3'), /The target has 3 vertices.*same vertices in the same order/);
    t.equal(await page.isVisible('#problem'), false, 'not behind it');
    await page.setInputFiles('#files', pair.slice(1));
    t.match(await textOnce(page, '#file-target', 'target.obj'), /8/);
    t.equal(await page.textContent('#open-note'), '', 'another file is right');
    await page.setInputFiles('#files', await certificate(t));
    await page.waitForSelector('#certificate');
    t.equal(await page.isVisible('#open-dialog'), false);
  });

  await t.test('a file that is dropped on another dialog closes it, so that nothing is said behind it', async (t) => {
    const page = await open(t);
    await openTangled(page);
    const drop = (name: string, text: string) =>
      page.evaluate(
        `{
          const data = new DataTransfer();
          data.items.add(new File([${JSON.stringify(text)}], '${name}'));
          document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
        }`,
      );
    for (const id of ['help-dialog', 'key-dialog', 'layers-dialog', 'help-dialog']) {
      await page.evaluate(`document.getElementById('${id}').showModal()`);
      await drop('broken.obj', 'v 0 0 nothing\n');
      await page.waitForSelector('#problem:not([hidden])');
      t.equal(await page.isVisible(`#${id}`), false, id);
      t.match(await page.textContent('#problem-text'), /broken\.obj: Line 1: "nothing" is not a number/);
      t.match(await page.textContent('#problem-hint'), /^Repair the file/, 'the file is not the body of a request');
      await page.click('#problem-close');
    }
    await page.evaluate(`document.getElementById('help-dialog').showModal()`);
    await drop('start.obj', squares(0, 0.5));
    await page.waitForSelector('#open-dialog[open]');
    t.equal(await page.isVisible('#help-dialog'), false);
    await drop('options.json', '{');
    t.match(await textOnce(page, '#open-note', 'JSON'), /options\.json is not JSON: .*Write an object/);
  });

  await t.test('an untangled answer has no marks of the start, and values keep their units', async (t) => {
    const page = await open(t, { viewport: { width: 1440, height: 900 } });
    await openTangled(page);
    const hasFaults = 'interstice.explorer.stage.hasFaults';
    t.equal(await page.evaluate<boolean>(hasFaults), true, 'the pair at fault is marked');
    await page.click('#untangle');
    await page.waitForSelector('#untangled');
    t.equal(await page.textContent('#place'), 'answer');
    t.equal(await page.evaluate<boolean>(hasFaults), false);
    const [count, broken] = await page.evaluate<[number, string[]]>(brokenWords);
    t.ok(count > 10, `${count} words`);
    t.same(broken, []);
  });

  await t.test('a diagnosis stays while its mesh is shown', async (t) => {
    const page = await open(t);
    let release = () => {};
    const isReleased = new Promise<void>((go) => {
      release = go;
    });
    await page.route(/\/v1\/check$/, async (route) => {
      await isReleased;
      await route.fallback();
    });
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await textOnce(page, '#result', 'converged');
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.waitForSelector('#diagnosis');
    release();
    await untilAnswered(page);
    t.match(await page.textContent('#result'), /^Diagnosis.*converged/, 'the target is checked');
    await page.evaluate(`(() => {
      const unit = document.getElementById('unit');
      unit.value = 'cm';
      unit.dispatchEvent(new Event('change'));
    })()`);
    t.match(await page.textContent('#result'), /^Diagnosis.*converged/, 'the unit has changed');
    t.equal(await page.locator('#result .figures').count(), 1, 'and the result appears once');
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForSelector('#diagnosis', { state: 'detached' });
  });

  await t.test('an answer cannot be replaced by an untangled start', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForSelector('#untangle:not([hidden])');
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    t.equal(await page.isVisible('#untangle'), false);
  });

  await t.test('every control can be reached at every width', async (t) => {
    const page = await open(t);
    const check = async (what: string) => {
      for (const [width, height] of [
        [390, 844],
        [761, 1024],
        [768, 1024],
        [850, 600],
        [1024, 640],
      ] as const) {
        await page.setViewportSize({ width, height });
        t.same(await page.evaluate<string[]>(unreachable), [], `${what}, ${width} × ${height}`);
      }
    };
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForSelector('#untangle:not([hidden])');
    await check('a start');
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    await check('an answer');
    await page.selectOption('#field', 'distance');
    await page.setViewportSize({ width: 360, height: 225 });
    const [below, above] = await page.evaluate<[number, number]>(
      `['tools', 'legend'].map((id, k) => document.getElementById(id).getBoundingClientRect()[k ? 'top' : 'bottom'])`,
    );
    t.ok(below <= above, `the legend begins at ${above}, below the tools, which end at ${below}`);
  });

  await t.test('in a low window the legend leaves the mesh free, and the welcome is whole', async (t) => {
    for (const [width, height] of [
      [640, 400],
      [740, 360],
    ] as const) {
      const page = await open(t, { viewport: { width, height } });
      const box = (id: string) =>
        page.evaluate<{ top: number; bottom: number; width: number }>(
          `document.getElementById('${id}').getBoundingClientRect().toJSON()`,
        );
      await page.waitForSelector('#examples button');
      const [all, seen] = await page.evaluate<[number, number]>(
        `(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.getElementById('welcome'))`,
      );
      t.ok(all <= seen, `${width} × ${height}: ${all} pixels of the welcome in ${seen}`);
      await page.setInputFiles('#files', pair);
      await resolve(page);
      await untilAnswered(page);
      const [legend, timeline, stage] = [await box('legend'), await box('timeline'), await box('stage')];
      t.ok(legend.bottom <= timeline.top, `${width} × ${height}: the legend ends at ${legend.bottom}`);
      t.ok(legend.width <= stage.width / 2, `${width} × ${height}: it is ${legend.width} wide`);
      t.same(await page.evaluate<string[]>(unreachable), [], `${width} × ${height}`);
    }
  });

  await t.test('on a phone a diagnosis comes into sight, and boxes are beside their words', async (t) => {
    const page = await open(t, { viewport: { width: 360, height: 740 } });
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    await page.route(/\/v1\/diagnose/, async (route) => {
      t.equal(await page.textContent('#diagnose'), 'Diagnosing…');
      await route.fallback();
    });
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.waitForSelector('#diagnosis');
    await page.waitForSelector('#diagnose:enabled');
    t.equal(await page.textContent('#diagnose'), 'Diagnose');
    const top = await page.evaluate<number>("document.getElementById('diagnosis-verdict').getBoundingClientRect().top");
    t.ok(top >= 0 && top < 370, `it is ${top} pixels below the edge of the screen`);
    t.match(await page.textContent('#scene-text'), /^The start is accepted/, 'a screen reader hears it');
    await page.keyboard.press('?');
    const ends = await page.evaluate<number[]>(
      `['character-keys', 'help-title'].map((id) => document.getElementById(id).getBoundingClientRect().height)`,
    );
    t.ok(ends[0]! < 24, `a box is ${ends[0]} pixels high`);
  });

  await t.test('the help names the key of every button that has one', async (t) => {
    const page = await open(t);
    const [keys, named] = await page.evaluate<[string[], string[]]>(`[
      [...document.querySelectorAll('[aria-keyshortcuts]')].map((each) => each.getAttribute('aria-keyshortcuts')),
      [...document.querySelectorAll('#help-dialog kbd')].map((each) => each.textContent),
    ]`);
    t.ok(keys.length > 3);
    t.same(
      keys.filter((key) => !named.includes(key)),
      [],
    );
  });

  await t.test('keys of one character can be turned off, by keyboard and for later visits', async (t) => {
    const page = await open(t);
    t.equal(await page.getAttribute('#open', 'aria-keyshortcuts'), 'O');
    const theme = () => page.evaluate<string>('document.documentElement.dataset.theme');
    const toggle = async () => {
      await page.focus('#help');
      await page.keyboard.press('Enter');
      const box = page.getByRole('checkbox', { name: 'Shortcuts of one letter, digit or sign' });
      await box.focus();
      await page.keyboard.press('Space');
      await page.keyboard.press('Escape');
      await page.waitForSelector('#help-dialog', { state: 'hidden' });
      return page.isChecked('#character-keys');
    };
    const before = await theme();
    await page.keyboard.press('d');
    const after = await theme();
    t.not(after, before);
    t.equal(await toggle(), false);
    for (const visit of ['this visit', 'the next one']) {
      const now = await theme();
      for (const key of ['d', 'D', '?', '1', '.']) await page.keyboard.press(key);
      t.equal(await theme(), now, visit);
      t.equal(await page.isVisible('#help-dialog'), false);
      t.equal(await page.getAttribute('#open', 'aria-keyshortcuts'), null, 'nor does a button name its key');
      t.equal(await page.getAttribute('#theme', 'title'), 'Dark or light');
      t.equal(await page.getAttribute('#play', 'aria-keyshortcuts'), 'Space', 'other keys remain');
      await page.reload();
    }
    t.equal(await toggle(), true);
    await page.keyboard.press('?');
    t.equal(await page.isVisible('#help-dialog'), true);
    await page.reload();
    t.equal(await page.getAttribute('#theme', 'title'), 'Dark or light (D)');
  });

  await t.test('the choice of keys works in a browser that keeps nothing, and the page says so', async (t) => {
    const page = await open(t);
    await page.addInitScript(`Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })`);
    await page.reload();
    await page.click('#help');
    await page.uncheck('#character-keys');
    t.match(await page.textContent('#character-keys-note'), /ends with this visit/);
    await page.keyboard.press('Escape');
    const theme = await page.evaluate<string>('document.documentElement.dataset.theme');
    await page.keyboard.press('d');
    t.equal(await page.evaluate<string>('document.documentElement.dataset.theme'), theme);
  });

  await t.test('the player stops when the user shows another state or another pair', async (t) => {
    const page = await open(t);
    await page.setInputFiles('#files', pair);
    await resolve(page);
    await untilAnswered(page);
    const isPlaying = () => page.getAttribute('#play', 'aria-pressed');
    /** Plays until the slider has moved. */
    const play = async () => {
      await page.keyboard.press('Home');
      await page.click('#play');
      await until(page, 'document.getElementById("slider").value > 0');
      t.equal(await isPlaying(), 'true');
    };
    const nextPictures = () =>
      page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    for (const name of ['start', 'answer', 'target']) {
      await play();
      await page.click(`#show-${name}`);
      await nextPictures();
      t.equal(await page.textContent('#place'), name);
      t.equal(await isPlaying(), 'false');
    }
    await play();
    await page.dispatchEvent('#slider', 'pointerdown');
    t.equal(await isPlaying(), 'false', 'the slider is held');
    await play();
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForSelector('#show-answer:disabled');
    await nextPictures();
    t.equal(await isPlaying(), 'false', 'another pair');
    t.equal(await page.textContent('#place'), 'start');
  });

  await t.test('a key does nothing where its button does nothing, and such buttons look so', async (t) => {
    const page = await open(t);
    await page.keyboard.press('r');
    t.equal(await page.isVisible('#open-dialog'), false, 'there is nothing to resolve again');
    await page.setInputFiles('#files', pair.slice(0, 1));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForSelector('#show-answer:disabled');
    for (const key of ['End', 'g', 'c', 't', ' ']) {
      await page.keyboard.press(key);
      t.equal(await page.textContent('#place'), 'start', key);
    }
    const pressed = await page.locator('#tools [aria-pressed="true"], #timeline [aria-pressed="true"]').all();
    t.same(await Promise.all(pressed.map((each) => each.getAttribute('id'))), ['toggle-edges', 'show-start']);
    const disabled = await page.evaluate<[string, number, string][]>(
      `[...document.querySelectorAll('#tools :disabled, #timeline :disabled')]
        .map((each) => [each.id, Number(getComputedStyle(each).opacity), getComputedStyle(each).cursor])`,
    );
    t.same(
      disabled.map(([id]) => id),
      ['toggle-contacts', 'toggle-ghost', 'play', 'show-answer', 'show-target', 'slider'],
    );
    for (const [id, opacity, cursor] of disabled) t.ok(opacity < 1 && cursor === 'default', id);
    await page.setInputFiles('#files', await certificate(t));
    await page.waitForSelector('#certificate');
    await page.keyboard.press('r');
    t.equal(await page.isVisible('#open-dialog'), false, 'nor is a certificate');
    await page.keyboard.press('Home');
    t.equal(await page.textContent('#place'), 'start');
    await page.keyboard.press('End');
    t.equal(await page.textContent('#place'), 'answer', 'its states are shown');
  });
});
