import { isCharacter } from './character-keys.js';
import type { Explorer } from './explorer.js';
import { byId } from './ui/dom.js';

/** The button that a key presses. */
const BUTTONS: Readonly<Record<string, string>> = {
  ' ': 'play',
  Home: 'show-start',
  End: 'show-answer',
  g: 'show-target',
  e: 'toggle-edges',
  c: 'toggle-contacts',
  t: 'toggle-ghost',
  f: 'frame',
  u: 'up',
  o: 'open',
  r: 'rerun',
  d: 'theme',
  '?': 'help',
  Escape: 'problem-close',
};

/**
 * Wires keys that work everywhere except in text fields or while a dialog is open.
 *
 * @param hasCharacters whether keys of one character work at all (character-keys.ts)
 */
export function wireKeys(explorer: Explorer, hasCharacters: () => boolean): void {
  const steps: Readonly<Record<string, number>> = { ',': -1, '.': 1 };
  const act = (key: string): boolean => {
    const button = BUTTONS[key];
    const step = steps[key];
    if (button !== undefined) press(byId<HTMLButtonElement>(button));
    else if (step !== undefined) explorer.stepBy(step);
    else if (/^[1-9]$/.test(key)) explorer.setFieldAt(Number(key) - 1);
    else return false;
    return true;
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]')) return;
    const { target, key } = event;
    if (isCharacter(key) && !hasCharacters()) return;
    const isTyped = target instanceof HTMLInputElement && !['range', 'checkbox'].includes(target.type);
    if (isTyped || target instanceof HTMLSelectElement) return;
    // A slider uses these keys itself.
    if (target instanceof HTMLInputElement && target.type === 'range' && /^(Home|End)$/.test(key)) return;
    // The space bar presses a button or a box that has the focus.
    const isPressed =
      target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === 'checkbox');
    if (key === ' ' && isPressed) return;
    if (act(key.length === 1 ? key.toLowerCase() : key)) event.preventDefault();
  });
}

/** Presses a button as a click does: one that is disabled or hidden does nothing. */
function press(button: HTMLButtonElement): void {
  if (!button.closest('[hidden]')) button.click();
}
