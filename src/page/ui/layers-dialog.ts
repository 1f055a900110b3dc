import type { LayerHint } from '../../contract/untangle.js';
import { byId, make } from './dom.js';

/** Asks which parts of a mesh lie on top of each other. The last input is still there when it is opened again. */
export class LayersDialog {
  #names: readonly string[] = [];
  readonly #list = byId('layers');

  /** @param answer called with the hints when the user starts the untangling */
  constructor(answer: (layers: readonly LayerHint[]) => void) {
    byId('add-layer').addEventListener('click', () => this.#add());
    byId('layers-form').addEventListener('submit', () => answer(this.#hints()));
  }

  /** @param names of the parts, at least two */
  open(names: readonly string[]): void {
    if (names.join('\n') !== this.#names.join('\n')) {
      this.#names = names;
      this.#list.replaceChildren();
    }
    byId<HTMLDialogElement>('layers-dialog').showModal();
  }

  #add(): void {
    const [inner, outer] = [this.#partSelect('Inner part', 0), this.#partSelect('Outer part', 1)];
    const side = make(
      'select',
      { ariaLabel: 'Side' },
      make('option', { value: 'ALONG_NORMALS' }, 'outside, along the normals of'),
      make('option', { value: 'AGAINST_NORMALS' }, 'inside, against the normals of'),
    );
    const remove = make('button', { type: 'button', className: 'button', ariaLabel: 'Remove this hint' }, 'Remove');
    const row = make('li', {}, outer, ' lies ', side, ' ', inner, ' ', remove);
    remove.addEventListener('click', () => row.remove());
    this.#list.append(row);
    outer.focus();
  }

  #partSelect(ariaLabel: string, chosen: number): HTMLSelectElement {
    const options = this.#names.map((name) => make('option', { value: name }, name));
    const select = make('select', { ariaLabel }, ...options);
    select.selectedIndex = chosen;
    return select;
  }

  #hints(): LayerHint[] {
    return [...this.#list.children].map((row) => {
      const [outer, side, inner] = [...row.querySelectorAll('select')].map(({ value }) => value);
      return { inner: inner!, outer: outer!, side: side as NonNullable<LayerHint['side']> };
    });
  }
}
