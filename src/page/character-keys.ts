import { byId } from './ui/dom.js';

/** Where the browser keeps the choice for the pages of this origin; absent = on. */
const CHOICE = 'interstice-character-keys';
const OFF = 'off';

/** A button's title ends with its key in brackets, as in "Edges (E)". */
const KEY_IN_TITLE = / \(.\)$/;

interface KeyedButton {
  readonly button: HTMLElement;
  readonly keys: string;
  readonly title: string;
}

/**
 * The switch for keys of one character, in the help. A user of speech input presses such keys by speaking, and may turn them
 * off (WCAG 2.1, Success Criterion 2.1.4). The choice outlives the visit. While they are off, no button names such a key.
 *
 * @returns whether keys of one character press buttons now
 */
export function wireCharacterKeys(): () => boolean {
  const box = byId<HTMLInputElement>('character-keys');
  const buttons: KeyedButton[] = [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]')]
    .map((button) => ({ button, keys: button.getAttribute('aria-keyshortcuts')!, title: button.title }))
    .filter(({ keys }) => isCharacter(keys));
  const apply = (): void => {
    for (const { button, keys, title } of buttons) {
      if (box.checked) button.setAttribute('aria-keyshortcuts', keys);
      else button.removeAttribute('aria-keyshortcuts');
      if (title !== '') button.title = box.checked ? title : title.replace(KEY_IN_TITLE, '');
    }
  };
  box.checked = storage()?.getItem(CHOICE) !== OFF;
  apply();
  box.addEventListener('change', () => {
    apply();
    const isKept = keep(box.checked);
    byId('character-keys-note').textContent = isKept
      ? ''
      : 'This browser keeps nothing for this page, so the choice ends with this visit.';
  });
  return () => box.checked;
}

/** Whether a key is a letter, a digit or a sign. */
export const isCharacter = (key: string): boolean => key.length === 1 && key !== ' ';

/** @returns whether the browser has kept it */
function keep(isOn: boolean): boolean {
  try {
    const kept = storage();
    if (isOn) kept?.removeItem(CHOICE);
    else kept?.setItem(CHOICE, OFF);
    return kept !== undefined;
  } catch {
    return false;
  }
}

/** undefined in a browser that denies it to this page */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
