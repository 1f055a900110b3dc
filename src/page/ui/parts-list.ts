import { cssOf } from '../colours.js';
import { formatPlural } from '../format.js';
import type { Parts } from '../parts.js';
import { make } from './dom.js';

/** Renders the parts with a box each; clearing the box hides the part. */
export function renderParts(
  pane: HTMLElement,
  parts: Parts | undefined,
  isHidden: readonly boolean[],
  onChange: (isHidden: boolean[]) => void,
): void {
  if (!parts) {
    pane.replaceChildren(
      make('p', { className: 'empty' }, 'Parts of the mesh appear here; you can hide and show them.'),
    );
    return;
  }
  const boxes: HTMLInputElement[] = [];
  const list = make('ul', { className: 'list' });
  for (const [i, { name, vertexCount, isKinematic, colour }] of parts.list.entries()) {
    const box = make('input', { type: 'checkbox', checked: !isHidden[i] });
    box.addEventListener('change', () => onChange(boxes.map(({ checked }) => !checked)));
    boxes.push(box);
    const swatch = make('span', { className: 'swatch' });
    swatch.style.background = cssOf(colour);
    const size = `${formatPlural(vertexCount, 'vertex', 'vertices')}${isKinematic && !name.startsWith('kinematic') ? ', kinematic' : ''}`;
    list.append(
      make(
        'li',
        {},
        make('label', { className: 'part' }, box, swatch, name, make('span', { className: 'amount' }, size)),
      ),
    );
  }
  const all = make('button', { type: 'button', className: 'button' }, 'Show all');
  all.addEventListener('click', () => {
    for (const box of boxes) box.checked = true;
    onChange(boxes.map(() => false));
  });
  const note = make(
    'p',
    { className: 'note' },
    'The parts are those that the mesh names; a mesh without parts is divided into connected components. Hidden parts cannot be picked.',
  );
  pane.replaceChildren(list, make('p', { className: 'actions' }, all), note);
}
