import type { ElementPair, PairKind } from '../../contract/elements.js';
import type { Reasons } from '../../contract/path.js';
import type { Contacts } from '../../contract/report.js';
import { formatLength, formatNumber, type LengthUnit } from '../format.js';
import type { Parts } from '../parts.js';
import type { Study } from '../study.js';
import { NONE } from '../view/marks.js';
import { definitions, make, section } from './dom.js';
import { describePair, type ResultActions } from './result.js';

/** Names of the contract's enum Kind, by number. */
const KINDS: readonly (PairKind | undefined)[] = [
  undefined,
  'VERTEX_TRIANGLE',
  'EDGE_EDGE',
  'VERTEX_EDGE',
  'VERTEX_VERTEX',
  'EDGE_TRIANGLE',
];
/** Vertices on each side of a pair, by kind. */
const SIDES: Readonly<Record<PairKind, number>> = {
  VERTEX_TRIANGLE: 1,
  EDGE_EDGE: 2,
  VERTEX_EDGE: 1,
  VERTEX_VERTEX: 1,
  EDGE_TRIANGLE: 2,
};

/** A close pair of the answer, and its push: λ ≥ 0, unit of the positions × masses. */
export interface Contact extends ElementPair {
  readonly push?: number;
}

/** The contacts of the answer that a vertex is in, the nearest first. */
function contactsOf(vertex: number, contacts: Contacts): Contact[] {
  const found: Contact[] = [];
  const { starts, list } = placesIn(contacts);
  for (const i of list.subarray(starts[vertex] ?? 0, starts[vertex + 1] ?? 0)) {
    const ids = contacts.vertices.subarray(4 * i, 4 * i + 4);
    const kind = KINDS[contacts.kinds[i]!];
    if (!kind) continue;
    const own = Array.from(ids).filter((id) => id !== NONE);
    const [x, y, z] = contacts.normals.subarray(3 * i, 3 * i + 3);
    found.push({
      kind,
      a: own.slice(0, SIDES[kind]),
      b: own.slice(SIDES[kind]),
      distance: contacts.distances[i]!,
      normal: [x!, y!, z!],
      ...(contacts.multipliers?.length ? { push: contacts.multipliers[i]! } : {}),
    });
  }
  return found.sort((one, other) => one.distance! - other.distance!);
}

/** The contacts of vertex v are those of `list` from starts[v] to before starts[v + 1]. */
interface Places {
  readonly starts: Uint32Array;
  readonly list: Uint32Array;
}

const PLACES = new WeakMap<Contacts, Places>();

/** Indexes the contacts once for an answer, so that a pick does not search all of them. */
function placesIn(contacts: Contacts): Places {
  const known = PLACES.get(contacts);
  if (known) return known;
  const { vertices } = contacts;
  const last = vertices.reduce((most, v) => (v !== NONE && v > most ? v : most), 0);
  const starts = new Uint32Array(last + 2);
  for (const v of vertices) if (v !== NONE) starts[v + 1]! += 1;
  for (let v = 0; v <= last; v++) starts[v + 1]! += starts[v]!;
  const list = new Uint32Array(starts[last + 1]!);
  const next = starts.slice();
  for (const [k, v] of vertices.entries()) {
    if (v !== NONE) list[next[v]!++] = k >> 2;
  }
  const places = { starts, list };
  PLACES.set(contacts, places);
  return places;
}

/** What holds a vertex, according to the answer. */
export interface Held {
  readonly hold: number;
  /** the pair that holds it most */
  readonly pair: ElementPair | undefined;
  /** the step since which that pair holds it; 0 = not known */
  readonly since: number;
}

export function holdOf(vertex: number, reasons: Reasons): Held {
  const p = reasons.pairs[vertex]!;
  const kind = KINDS[reasons.kinds[p] ?? 0];
  const hold = reasons.holds[vertex]!;
  const since = reasons.since[vertex]!;
  if (p === NONE || !kind) return { hold, pair: undefined, since };
  const ids = Array.from(reasons.vertices.subarray(4 * p, 4 * p + 4)).filter((id) => id !== NONE);
  const [x, y, z] = reasons.normals.subarray(3 * p, 3 * p + 3);
  const sides = { a: ids.slice(0, SIDES[kind]), b: ids.slice(SIDES[kind]) };
  return { hold, pair: { kind, ...sides, distance: reasons.distances[p]!, normal: [x!, y!, z!] }, since };
}

/** Numbers of the contract's enum Hold. */
const CONTACT = 2;
const EDGE = 3;
const HOLD_SENTENCES: Readonly<Record<number, string>> = {
  1: 'nothing holds it there',
  4: 'the time budget ended while it wanted to move',
  5: 'the step limit ended the run while it wanted to move',
  6: 'it wanted to move, and the run stalled: a pair that is farther apart than δ, or its trust box, blocked it',
  7: 'further steps would have gained too little',
};

function holdSentence(
  { answer, target }: Study,
  vertex: number,
  { hold, pair, since }: Held,
  unit: LengthUnit,
): string {
  const distance = Math.hypot(...[0, 1, 2].map((c) => answer!.positions[3 * vertex + c]! - target![3 * vertex + c]!));
  const away = distance === 0 ? 'It is at its target' : `It is ${formatLength(distance, unit)} from its target`;
  const when = since > 0 ? `, since step ${since}` : '';
  if (pair && hold === CONTACT) {
    return `${away}: further motion would close the contact ${describePair(pair)}, ${formatLength(pair.distance!, unit)} apart${when}.`;
  }
  if (pair && hold === EDGE) {
    const other = [...pair.a, ...pair.b].find((v) => v !== vertex);
    return `${away}: the edge to vertex ${other} is at its limit with ${formatLength(pair.distance!, unit)}, and further motion would lengthen it${when}.`;
  }
  return `${away}: ${HOLD_SENTENCES[hold] ?? 'what holds it is not known'}.`;
}

/** Contacts that are listed for a vertex. */
const MAX_LISTED = 12;

export function renderVertex(
  pane: HTMLElement,
  { study, vertex, parts, state, unit }: VertexView,
  actions: ResultActions,
): readonly ElementPair[] {
  if (!study || vertex === undefined) {
    pane.replaceChildren(
      make(
        'p',
        { className: 'empty' },
        'Click a vertex of the scene to read where it is, how far it moved, and what stopped it.',
      ),
    );
    return [];
  }
  const { start, target, answer } = study;
  const at = (positions: ArrayLike<number>) => [0, 1, 2].map((c) => positions[3 * vertex + c]!);
  const apart = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    Math.hypot(...at(a).map((value, c) => value - at(b)[c]!));
  const contacts = answer?.contacts ? contactsOf(vertex, answer.contacts) : [];
  const isIn = ({ a, b }: ElementPair) => a.includes(vertex) || b.includes(vertex);
  const held = answer?.reasons && holdOf(vertex, answer.reasons);
  const limiting = held?.pair ? [held.pair] : (answer?.report.limitingPairs?.filter(isIn) ?? []);
  const part = parts?.list[parts.of[vertex]!];
  const isKinematic = study.mesh.kinematic?.[vertex] === 1;
  pane.replaceChildren(
    section(
      `Vertex ${vertex}`,
      definitions('pairs', [
        ['Part', part?.name],
        ['Moved by', isKinematic ? 'the caller (kinematic)' : 'the solver (dynamic)'],
        ['Shown at', at(state).map(formatNumber).join(', ')],
        ['From its start, as shown', formatLength(apart(state, start), unit)],
        ['To its target, as shown', target && formatLength(apart(state, target), unit)],
        ['To its target, answer', target && answer && formatLength(apart(answer.positions, target), unit)],
        ['Residual', answer?.vertices && formatNumber(answer.vertices.residual[vertex]!)],
      ]),
    ),
    section(
      'Why it is there',
      make(
        'p',
        {},
        held ? holdSentence(study, vertex, held, unit) : sentenceOf(study, vertex, { contacts, limiting }, unit),
      ),
    ),
    ...(contacts.length > 0
      ? [
          section(
            contacts.length > MAX_LISTED
              ? `Nearest ${MAX_LISTED} of ${contacts.length} contacts`
              : 'Contacts in the answer',
            contactList(contacts.slice(0, MAX_LISTED), unit, actions),
          ),
        ]
      : []),
  );
  return limiting.length > 0 ? limiting : contacts.slice(0, 1);
}

export interface VertexView {
  readonly study: Study | undefined;
  readonly vertex: number | undefined;
  readonly parts: Parts | undefined;
  /** [3·V] as shown */
  readonly state: ArrayLike<number>;
  readonly unit: LengthUnit;
}

/** Says what stopped a vertex, as far as the answer shows it. */
function sentenceOf(
  { answer, target, mesh }: Study,
  vertex: number,
  { contacts, limiting }: { readonly contacts: readonly ElementPair[]; readonly limiting: readonly ElementPair[] },
  unit: LengthUnit,
): string {
  if (!answer || !target) return 'There is no answer yet.';
  const distance = Math.hypot(...[0, 1, 2].map((c) => answer.positions[3 * vertex + c]! - target[3 * vertex + c]!));
  if (distance === 0) return 'It is at its target.';
  const away = `It is ${formatLength(distance, unit)} from its target`;
  if (limiting.length > 0) return `${away}, and is one of the farthest. It is held by ${describePair(limiting[0]!)}.`;
  const nearest = contacts[0];
  if (nearest)
    return `${away}. The nearest contact is ${describePair(nearest)}, ${formatLength(nearest.distance!, unit)} apart.`;
  if (mesh.kinematic?.[vertex] === 1) return `${away}: something in its way could not give way any further.`;
  return `${away}, and touches nothing: its neighbours hold it back along their edges to it.`;
}

function contactList(contacts: readonly Contact[], unit: LengthUnit, actions: ResultActions): HTMLElement {
  const list = make('ul', { className: 'list' });
  for (const pair of contacts) {
    const normal = pair.normal!.map((value) => value.toFixed(2).replace('-', '−')).join(', ');
    const button = make(
      'button',
      { type: 'button', title: 'Show this pair' },
      make(
        'span',
        { className: 'line' },
        describePair(pair),
        make('span', { className: 'amount' }, formatLength(pair.distance!, unit)),
      ),
      make(
        'span',
        { className: 'note' },
        `normal ${normal}${pair.push === undefined ? '' : `; pushes λ = ${formatNumber(pair.push)}`}`,
      ),
    );
    button.addEventListener('click', () => actions.showPair(pair));
    list.append(make('li', {}, button));
  }
  return list;
}
