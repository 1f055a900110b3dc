import type { Explorer } from './explorer.js';
import { byId } from './ui/dom.js';

export interface KeyActions {
  open(): void;
  rerun(): void;
  theme(): void;
}

/** Wires keys that work everywhere except in text fields or while a dialog is open. */
export function wireKeys(explorer: Explorer, actions: KeyActions): void {
  const commands: Readonly<Record<string, () => void>> = {
    ' ': () => explorer.play(),
    Home: () => explorer.goTo(0),
    End: () => explorer.goTo(1),
    g: () => explorer.goTo(undefined),
    ',': () => explorer.stepBy(-1),
    '.': () => explorer.stepBy(1),
    e: () => explorer.toggle('edges'),
    c: () => explorer.toggle('contacts'),
    t: () => explorer.toggle('ghost'),
    f: () => explorer.stage.fit(),
    u: () => explorer.turnUp(),
    o: actions.open,
    r: actions.rerun,
    d: actions.theme,
    '?': () => byId<HTMLDialogElement>('help-dialog').showModal(),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]')) return;
    const { target, key } = event;
    const isTyped = target instanceof HTMLInputElement && !['range', 'checkbox'].includes(target.type);
    if (isTyped || target instanceof HTMLSelectElement) return;
    // A slider uses these keys itself.
    if (target instanceof HTMLInputElement && target.type === 'range' && /^(Home|End)$/.test(key)) return;
    // The space bar presses a button or a box that has the focus.
    const isPressed =
      target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === 'checkbox');
    if (key === ' ' && isPressed) return;
    const command = commands[key.length === 1 ? key.toLowerCase() : key];
    if (command) command();
    else if (/^[1-9]$/.test(key)) explorer.setFieldAt(Number(key) - 1);
    else return;
    event.preventDefault();
  });
}
