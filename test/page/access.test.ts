import type { Page } from 'playwright-core';
import t from 'tap';
import { skipWithoutChromium } from '../support/chromium.js';
import { fileOf, openPageService, resolve, squares, untilAnswered } from './open-page.js';

/** The page without a mouse, in both themes, and on a small screen. */

/** What the Success Criterion 1.4.3 asks for, of usual text. */
const CONTRAST = 4.5;

/** Texts whose contrast with what is behind them is too small. Runs in the page: colours as the browser paints them. */
const faintTexts = `(() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const linear = [r, g, b].map((byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgba(getComputedStyle(document.body).backgroundColor);
  };
  let count = 0;
  const faint = [];
  for (const element of document.body.querySelectorAll('*')) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('');
    if (!text || !element.checkVisibility({ visibilityProperty: true }) || element.closest(':disabled')) continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(groundOf(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    count += 1;
    if (ratio < ${CONTRAST}) faint.push(text.slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return { count, faint };
})()`;

/** The name of what has the focus, and whether one sees that it has it. */
const focused = `(() => {
  const element = document.activeElement;
  // Behind the last element the browser itself has the focus.
  if (element === document.body) return undefined;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  return { name: element.id || element.textContent.trim().slice(0, 30), seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
})()`;

/** Controls without a role or a name, as the browser describes the page to a screen reader. */
async function unnamedControls(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const controls = nodes.filter(
    ({ ignored, role, properties = [] }) =>
      !ignored &&
      role?.value !== 'RootWebArea' &&
      properties.some(({ name, value }) => name === 'focusable' && value.value === true),
  );
  if (controls.length === 0) throw new Error('The page has no controls.');
  return controls
    .filter(({ role, name }) => /^(Canvas|generic|none|unknown)?$/.test(role?.value ?? '') || !name?.value)
    .map(({ role, name }) => `${role?.value} "${name?.value}"`);
}

t.test('the page is accessible', { skip: skipWithoutChromium }, async (t) => {
  const { open } = await openPageService(t);
  const answered = async (page: Page) => {
    await page.setInputFiles('#files', [fileOf('start.obj', squares(0, 0.5)), fileOf('target.obj', squares(1, 0.5))]);
    await resolve(page);
    await untilAnswered(page);
  };

  await t.test('the keyboard reaches every control in visual order, and the focus is visible', async (t) => {
    const page = await open(t);
    await answered(page);
    await page.evaluate('document.activeElement.blur()');
    const walk: { name: string; seen: boolean }[] = [];
    for (let n = 0; n < 40; n++) {
      await page.keyboard.press('Tab');
      const here = await page.evaluate<{ name: string; seen: boolean } | undefined>(focused);
      if (!here) break;
      walk.push(here);
    }
    const names = walk.map(({ name }) => name);
    const order = [
      ...['Skip to the results', 'open', 'rerun', 'diagnose', 'save', 'save-format', 'theme', 'help', 'view'],
      ...['toggle-edges', 'toggle-contacts', 'toggle-ghost', 'frame', 'up', 'field', 'tab-result'],
      ...['play', 'show-start', 'show-answer', 'show-target', 'slider'],
    ];
    t.same(
      names.filter((name) => order.includes(name)),
      order,
    );
    t.same(
      walk.filter(({ seen }) => !seen).map(({ name }) => name),
      [],
      'the focus is seen everywhere',
    );
    await page.focus('#slider');
    await page.keyboard.press('ArrowLeft');
    t.match(await page.textContent('#place'), /step/, 'the slider moves');
    await page.focus('#view');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    t.match(await page.textContent('#vertex'), /Why it is there/, 'a vertex is picked');
    await page.focus('#tab-vertex');
    await page.keyboard.press('ArrowRight');
    t.equal(await page.getAttribute('#tab-parts', 'aria-selected'), 'true');
    await page.keyboard.press('?');
    await page.waitForSelector('#help-dialog[open]');
    await page.keyboard.press('Escape');
    t.equal(await page.isVisible('#help-dialog'), false);
  });

  await t.test('a screen reader is told the role and the name of every control', async (t) => {
    const page = await open(t);
    const check = async (what: string) => t.same(await unnamedControls(page), [], what);
    await page.waitForSelector('#examples button');
    await check('welcome');
    await answered(page);
    t.equal(await page.getAttribute('#view', 'role'), 'application', 'arrow keys go to the scene');
    await page.focus('#view');
    await page.keyboard.press('Enter');
    for (const name of ['Result', 'Vertex', 'Parts', 'Sessions']) {
      await page.getByRole('tab', { name }).click();
      await check(name);
    }
    await page.getByRole('button', { name: 'Diagnose' }).click();
    await page.waitForSelector('#diagnosis');
    await check('diagnosis');
    for (const dialog of ['open-dialog', 'layers-dialog', 'key-dialog', 'help-dialog']) {
      await page.evaluate(`document.getElementById('${dialog}').showModal()`);
      await check(dialog);
      await page.evaluate(`document.getElementById('${dialog}').close()`);
    }
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`texts are read easily, ${colorScheme}`, async (t) => {
      const page = await open(t, { colorScheme });
      const check = async (what: string) => {
        // Colours that are on their way to those of the theme are nobody's to judge.
        await page.evaluate('Promise.allSettled(document.getAnimations().map((each) => each.finished)).then(() => {})');
        const { count, faint } = await page.evaluate<{ count: number; faint: string[] }>(faintTexts);
        t.ok(count > 10, `${count} texts`);
        t.same(faint, [], what);
      };
      await page.waitForSelector('#examples button');
      await check('welcome');
      await answered(page);
      await check('result');
      await page.getByRole('button', { name: 'Diagnose' }).click();
      await page.waitForSelector('#diagnosis');
      await check('diagnosis');
      await page.keyboard.press('?');
      await check('help');
    });
  }

  await t.test('a small screen never has a horizontal scroll bar', async (t) => {
    const page = await open(t, { viewport: { width: 320, height: 640 } });
    const fits = async (what: string) => {
      const wide = await page.evaluate<
        string[]
      >(`document.documentElement.scrollWidth <= 320 ? [] : [...document.body.querySelectorAll('*')]
        .filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > 320.5).map((each) => each.id || each.className || each.tagName)`);
      t.same(wide, [], what);
    };
    await fits('welcome');
    await answered(page);
    for (const place of ['0', '0.5', '1']) {
      await page.fill('#slider', place);
      await fits(`place ${place}: ${await page.textContent('#place')}`);
    }
    for (const name of ['Vertex', 'Parts', 'Sessions', 'Result']) {
      await page.getByRole('tab', { name }).click();
      await fits(name);
    }
    await page.getByRole('button', { name: 'Resolve again…' }).click();
    await fits('dialog');
  });

  await t.test('forced colours show what is pressed and selected', async (t) => {
    const page = await open(t);
    await page.emulateMedia({ forcedColors: 'active' });
    await answered(page);
    const colourOf = (selector: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    for (const [on, off] of [
      ['#tab-result', '#tab-vertex'],
      ['#show-answer', '#show-start'],
      ['#toggle-edges', '#toggle-ghost'],
    ] as const) {
      t.not(await colourOf(on), await colourOf(off), `${on} beside ${off}`);
    }
  });
});
