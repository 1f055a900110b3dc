/** Finds an element of the page by its id. Template and code belong together, so a missing element is a fault. */
export function byId<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}.`);
  return found as unknown as T;
}

type Content = Node | string | undefined | false;

/** Makes an element. Text stays text: nothing is parsed as HTML. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<Omit<HTMLElementTagNameMap[K], 'style' | 'dataset'>> = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  for (const each of content) if (each !== undefined && each !== false) element.append(each);
  return element;
}

/** Makes a list of terms and values. Undefined values are omitted. */
export function definitions(
  className: string,
  rows: readonly (readonly [string, Content, string?])[],
): HTMLDListElement {
  const list = make('dl', { className });
  for (const [term, value, note] of rows) {
    if (value === undefined || value === false) continue;
    const name = make('dt', {}, term);
    const data = make('dd', {}, value, note !== undefined && make('small', {}, note));
    if (className === 'figures') list.append(make('div', {}, name, data));
    else list.append(name, data);
  }
  return list;
}

export const section = (title: string, ...content: readonly Content[]): HTMLElement =>
  make('section', {}, make('h3', {}, title), ...content);

export function setPressed(button: HTMLElement, isPressed: boolean): void {
  button.setAttribute('aria-pressed', String(isPressed));
}

/**
 * Wires the buttons that close their dialog. They do not submit its form: Enter in a field presses the first button that
 * does.
 */
export function wireCancel(): void {
  for (const button of document.querySelectorAll('dialog button.cancel')) {
    button.addEventListener('click', () => button.closest('dialog')!.close());
  }
}

/** Closes every open dialog. @param except the id of one that stays */
export function closeDialogs(except?: string): void {
  for (const dialog of document.querySelectorAll('dialog')) if (dialog.open && dialog.id !== except) dialog.close();
}

/** Wires the tabs of the results: arrow keys go from one to the next, as the ARIA pattern for tabs requires. */
export function wireTabs(list: HTMLElement, onShow: (name: string) => void): (name: string) => void {
  const tabs = [...list.querySelectorAll<HTMLButtonElement>('[role="tab"]')];
  const nameOf = (tab: HTMLElement) => tab.getAttribute('aria-controls') ?? '';
  const show = (chosen: HTMLButtonElement) => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      byId(nameOf(tab)).hidden = !isChosen;
    }
    onShow(nameOf(chosen));
  };
  for (const [i, tab] of tabs.entries()) {
    tab.addEventListener('click', () => show(tab));
    tab.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const next = tabs[(i + step + tabs.length) % tabs.length]!;
      next.focus();
      show(next);
    });
  }
  return (name) => show(tabs.find((tab) => nameOf(tab) === name)!);
}
