import type { Diagnosis, DiagnosisFinding } from '../../client/types.js';
import type { ElementPair } from '../../contract/elements.js';
import { formatCount, formatPlural } from '../format.js';
import { make, section } from './dom.js';

const WORDS = { PROBLEM: 'Problem', WARNING: 'Warning', NOTE: 'Note' } as const;

/** Renders the findings of a diagnosis as a list; a finding that names elements can be shown in the scene. */
export function renderDiagnosis(
  pane: HTMLElement,
  diagnosis: Diagnosis,
  showPairs: (pairs: readonly ElementPair[]) => void,
): void {
  const { findings, accepted, layers } = diagnosis;
  const problems = findings.filter(({ severity }) => severity === 'PROBLEM').length;
  const verdict = accepted ? 'The start is accepted' : 'The start would be refused';
  const items = findings.map((finding) => {
    const pairs = placesOf(finding, diagnosis);
    const show = make('button', { type: 'button', className: 'button' }, `Show ${formatCount(pairs.length)}`);
    show.addEventListener('click', () => showPairs(pairs));
    return make(
      'li',
      {},
      make('p', {}, make('b', {}, `${WORDS[finding.severity]}: `), finding.message),
      finding.advice !== '' && make('p', { className: 'note' }, finding.advice),
      pairs.length > 0 && show,
    );
  });
  const order = layers.map(({ inner, outer }) => make('li', {}, `${outer} lies outside ${inner}`));
  const box = make('div', { className: 'diagnosis' });
  box.append(
    section(
      'Diagnosis',
      make('p', { id: 'diagnosis-verdict' }, `${verdict}: ${formatPlural(problems, 'problem')}.`),
      make('ul', { id: 'diagnosis' }, ...items),
    ),
    ...(order.length > 0 ? [section('Layers', make('ul', {}, ...order))] : []),
  );
  // It appears above the result; both stay.
  dropDiagnosis(pane);
  pane.prepend(box);
}

/** Removes a diagnosis because another mesh is shown. */
export function dropDiagnosis(pane: HTMLElement): void {
  pane.querySelector('.diagnosis')?.remove();
}

/** The elements that a finding names, as pairs for the scene to mark; an intersection has the pairs of its regions. */
export function placesOf({ code, elements }: DiagnosisFinding, { regions }: Diagnosis): readonly ElementPair[] {
  if (code === 'INTERSECTION') return regions.flatMap(({ pairs }) => pairs);
  return elements.map(({ vertices }) => ({ kind: 'VERTEX_VERTEX', a: vertices, b: [] }));
}
