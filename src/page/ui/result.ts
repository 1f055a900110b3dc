import type { ElementPair, PairKind } from '../../contract/elements.js';
import type { MeshInput } from '../../contract/mesh.js';
import type { Report, Status, Timings } from '../../contract/report.js';
import {
  formatCount,
  formatLength,
  formatMicroseconds,
  formatNumber,
  formatPlural,
  type LengthUnit,
} from '../format.js';
import { comparedLength, type Study } from '../study.js';
import { certificateSections } from './certificate.js';
import { definitions, make, section } from './dom.js';
import { type ContourActions, untangledSections } from './untangled.js';

/** Renders the report of an answer as text and figures. */

const STATUS: Readonly<Record<Status, { readonly word: string; readonly tone: string; readonly sentence: string }>> = {
  CONVERGED: { word: 'converged', tone: 'good', sentence: 'Further steps would change little.' },
  STALLED: { word: 'stalled', tone: 'warn', sentence: 'No progress for many steps. The state is safe.' },
  STEP_LIMIT: {
    word: 'step limit',
    tone: 'warn',
    sentence: 'The run reached its step limit. The state is safe; more steps may bring it nearer to the target.',
  },
  DEADLINE: {
    word: 'time is up',
    tone: 'warn',
    sentence: 'The run used up its time budget. The state is safe; more time may bring it nearer to the target.',
  },
};

export const KIND_NAMES: Readonly<Record<PairKind, string>> = {
  VERTEX_TRIANGLE: 'vertex – triangle',
  EDGE_EDGE: 'edge – edge',
  VERTEX_EDGE: 'vertex – edge',
  VERTEX_VERTEX: 'vertex – vertex',
  EDGE_TRIANGLE: 'edge – triangle',
};

export interface ResultActions extends ContourActions {
  /** Shows a pair in the scene. */
  showPair(pair: ElementPair): void;
}

export function renderResult(
  pane: HTMLElement,
  study: Study | undefined,
  unit: LengthUnit,
  actions: ResultActions,
): void {
  // A diagnosis above it is about the mesh, not about the result.
  for (const child of [...pane.children]) if (!child.matches('.diagnosis')) child.remove();
  pane.append(...resultSections(study, unit, actions));
}

function resultSections(study: Study | undefined, unit: LengthUnit, actions: ResultActions): HTMLElement[] {
  if (!study) {
    return [
      make(
        'p',
        { className: 'empty' },
        'Open a start and a target, or an example. The report of the answer appears here.',
      ),
    ];
  }
  const { answer, mesh, checks } = study;
  const sizes = definitions('pairs', [
    ['Vertices', formatCount(mesh.vertexCount)],
    ['Triangles', countOf(mesh.triangles, 3)],
    ['Segments', countOf(mesh.segments, 2)],
    ['Particles', countOf(mesh.particles, 1)],
    ['Tetrahedra', countOf(mesh.tetrahedra, 4)],
    ['Kinematic vertices', mesh.kinematic && formatCount(mesh.kinematic.reduce((sum, flag) => sum + flag, 0))],
    ['Intersecting pairs in the target', checks.target && formatCount(checks.target.intersectionCount)],
  ]);
  if (!answer) {
    return [
      ...(study.certificate ? certificateSections(study.certificate) : []),
      ...(study.untangled ? untangledSections(study.untangled, unit, actions) : []),
      section('Mesh', sizes),
    ];
  }
  const report = answer.report as Report;
  const { word, tone, sentence } = STATUS[report.status];
  return [
    make(
      'section',
      {},
      make(
        'p',
        { className: 'status' },
        make('span', { className: `pill ${tone}` }, word),
        `${formatPlural(report.steps, 'step')}, ${formatMicroseconds(report.timings.total)}`,
      ),
      make('p', { className: 'note', id: 'verdict' }, verdictOf(report)),
      make('p', { className: 'note' }, sentence),
    ),
    figures(report, unit),
    ...(answer.path
      ? []
      : [
          section(
            'Path',
            make(
              'p',
              { className: 'note', id: 'no-path' },
              'The states on the way are missing because they did not fit into one message, or into the memory of the service for results. The slider shows the straight line from the start to the answer, which was not tested.',
            ),
          ),
        ]),
    ...(report.warnings.length > 0
      ? [
          section(
            'Warnings',
            ...report.warnings.map(({ code, message }) =>
              make('p', { className: 'warning' }, make('b', {}, code), message),
            ),
          ),
        ]
      : []),
    ...(report.limitingPairs.length > 0
      ? [section('What holds the farthest vertices', pairList(report.limitingPairs, unit, actions))]
      : []),
    ...(report.limitingEdges.length > 0
      ? [
          section(
            'Edges at or over their limit that hold the farthest vertices',
            edgeList(report.limitingEdges, mesh, actions),
          ),
        ]
      : []),
    section('Time', ...timingBars(report.timings)),
    section(
      'Safety',
      definitions('pairs', [
        [
          'Tested',
          report.verification.performed === 'PATH'
            ? 'answer and path'
            : report.verification.performed === 'STATE'
              ? 'answer'
              : 'nothing',
        ],
        ['Pairs tested', formatCount(report.verification.pairsTested)],
        [
          'Intersections in the answer',
          report.verification.performed !== 'NONE' &&
            formatCount(report.verification.intersections + (report.intersectingPairCount ?? 0)),
        ],
        ['Earlier state sent', report.verification.fellBack && 'yes'],
        ['Excluded pairs', report.ignoredPairCount > 0 && formatCount(report.ignoredPairCount)],
      ]),
    ),
    section('Mesh', sizes),
    section(
      'Pairs and engine',
      definitions('pairs', [
        [
          'Proximity pairs',
          formatCount(
            report.pairs.vertexTriangle + report.pairs.edgeEdge + report.pairs.vertexEdge + report.pairs.vertexVertex,
          ),
        ],
        ['Active contacts', formatCount(report.pairs.activeContacts)],
        ['Contacts in the answer', answer.contacts && formatCount(answer.contacts.distances.length)],
        ['Searches', formatCount(report.searches)],
        ['Activation distance δ', formatLength(report.resolved.activationDistance, unit)],
        ['Quality', report.resolved.quality.toLowerCase()],
        ['Engine', report.engine],
      ]),
    ),
  ];
}

/** Whether the answer intersects: only pairs that intersected in the start and were excluded can. */
function verdictOf({ verification: { performed, intersections }, intersectingPairCount = 0 }: Report): string {
  if (performed === 'NONE') return 'The answer was not tested for intersections.';
  const left = intersections + intersectingPairCount;
  if (left > 0)
    return `${formatPlural(left, 'pair')} of the start still ${left === 1 ? 'intersects' : 'intersect'}; nothing else does.`;
  if (performed === 'PATH') return 'The answer and the path are free of intersections, by the exact test.';
  return 'The answer is free of intersections, by the exact test.';
}

const countOf = (elements: Uint32Array | undefined, width: number): string | undefined =>
  elements?.length ? formatCount(elements.length / width) : undefined;

function figures(report: Report, unit: LengthUnit): HTMLElement {
  const { minDistance, worstEdge } = report;
  const isMeasured = !report.warnings.some(({ code }) => code === 'MIN_DISTANCE_NOT_MEASURED');
  return definitions('figures', [
    [
      'Distance to target',
      formatLength(report.distanceToTargetRms, unit),
      `rms; at most ${formatLength(report.distanceToTargetMax, unit)}`,
    ],
    [
      'Largest stretch',
      `${formatNumber(report.maxStretch)}\u202f×`,
      report.overlongEdges > 0
        ? `${formatPlural(report.overlongEdges, 'edge')} over the limit${worstEdge ? `, worst ${worstEdge.a}–${worstEdge.b}` : ''}`
        : 'no edge over the limit',
    ],
    [
      'Smallest gap',
      minDistance === undefined ? '–' : formatLength(minDistance, unit),
      minDistance === undefined
        ? isMeasured
          ? 'nothing is near'
          : 'not measured'
        : 'between elements that share no vertex',
    ],
    [
      'Residual',
      formatNumber(report.residual),
      report.unfinishedVertices > 0
        ? `${formatPlural(report.unfinishedVertices, 'vertex', 'vertices')} unfinished`
        : 'the motion is used up',
    ],
    ['Deflected', formatCount(report.deflectedVertices), 'vertices more than δ from their target'],
    [
      'Obstacles off target',
      formatCount(report.unreachedKinematic),
      report.unreachedKinematic > 0
        ? `at most ${formatLength(report.kinematicDistanceMax, unit)}`
        : 'all are at their targets',
    ],
  ]);
}

/** Describes a pair: "vertex 12 – triangle 4, 5, 6". */
export function describePair({ kind, a, b }: ElementPair): string {
  const [left, right] = KIND_NAMES[kind].split(' – ');
  return `${left} ${a.join(', ')} – ${right} ${b.join(', ')}`;
}

const pairList = (pairs: readonly ElementPair[], unit: LengthUnit, actions: ResultActions): HTMLElement =>
  listOfPairs(
    pairs.map((pair) => {
      const gap = pair.distance === undefined ? '' : formatLength(pair.distance, unit);
      return { pair, words: describePair(pair), amount: gap };
    }),
    actions,
  );

const edgeList = (edges: Report['limitingEdges'], mesh: MeshInput, actions: ResultActions): HTMLElement =>
  listOfPairs(
    edges.map(({ a, b, stretch }) => ({
      pair: { kind: 'VERTEX_VERTEX', a: [a], b: [b] },
      words: `edge ${a}–${b}`,
      amount: `${formatNumber(stretch)} × its length ${comparedLength(mesh)}`,
    })),
    actions,
  );

function listOfPairs(
  items: readonly { readonly pair: ElementPair; readonly words: string; readonly amount: string }[],
  actions: ResultActions,
): HTMLElement {
  const list = make('ul', { className: 'list' });
  for (const { pair, words, amount } of items) {
    const button = make(
      'button',
      { type: 'button', title: 'Show this pair' },
      make('span', { className: 'line' }, words, make('span', { className: 'amount' }, amount)),
    );
    button.addEventListener('click', () => actions.showPair(pair));
    list.append(make('li', {}, button));
  }
  return list;
}

/** Stages in the order in which a request passes them; the lightness of colours differs from one to the next. */
const STAGES: readonly (readonly [keyof Timings, string, string])[] = [
  ['queue', 'waiting', '#9aa3b2'],
  ['decode', 'transfer and decoding', '#5b6577'],
  ['upload', 'mesh and coordinates', '#c9a227'],
  ['search', 'search', '#2f6fde'],
  ['geometry', 'geometry', '#8fb6ff'],
  ['backward', 'backward steps', '#b8401f'],
  ['forward', 'forward steps', '#f2a285'],
  ['verify', 'exact tests', '#1b7a48'],
  ['readback', 'other work and measuring', '#84c9a2'],
  ['encode', 'encoding', '#7b4fc4'],
];

export function timingBars(timings: Timings): HTMLElement[] {
  const stages = STAGES.filter(([stage]) => timings[stage] > 0);
  const sum = stages.reduce((total, [stage]) => total + timings[stage], 0) || 1;
  const bars = make('div', { className: 'bars' });
  bars.setAttribute('aria-hidden', 'true');
  const list = make('ul', { className: 'bar-list' });
  for (const [stage, name, colour] of stages) {
    const bar = make('i');
    bar.style.width = `${(100 * timings[stage]) / sum}%`;
    bar.style.background = colour;
    bars.append(bar);
    const swatch = make('span', { className: 'swatch' });
    swatch.style.background = colour;
    list.append(
      make('li', {}, swatch, name, make('span', { className: 'amount' }, formatMicroseconds(timings[stage]))),
    );
  }
  return [bars, list];
}
