import type { UntangledState } from '../../client/types.js';
import { formatCount, formatLength, formatNumber, formatPlural, type LengthUnit } from '../format.js';
import { definitions, make, section } from './dom.js';

type Contour = UntangledState['report']['contours'][number];

/** Actions for a contour of an untangled start. */
export interface ContourActions {
  showContour(contour: Contour): void;
  /** Untangles again with the other side of this contour as the wrong one, or with the original side again. */
  turnContour(id: number): void;
}

const STATUS = {
  FREE: { word: 'free', tone: 'good', sentence: 'The positions have no intersection, by the exact test.' },
  PARTIAL: {
    word: 'partly untangled',
    tone: 'warn',
    sentence: 'Fewer intersections than the start. Choosing another side may free it.',
  },
  UNRESOLVED: {
    word: 'not untangled',
    tone: 'bad',
    sentence: 'As many intersections as the start. Choosing another side may free it.',
  },
} as const;

const WHY = {
  HINT: 'a layer hint says so',
  BODY: 'the body says so',
  SMALLER: 'the smaller part, a guess',
  COST: 'the least work, a guess',
} as const;

/** The report of an untangling: for each contour the side taken as wrong, the reason, and a button that turns it. */
export function untangledSections(
  { report }: UntangledState,
  unit: LengthUnit,
  actions: ContourActions,
): HTMLElement[] {
  const { word, tone, sentence } = STATUS[report.status];
  const items = report.contours.map((contour) => {
    const { id, kind, pierces, sheets, why, confidence, isTurned } = contour;
    const wrong = sheets.flatMap(({ part, wrongVertices }) =>
      wrongVertices > 0 ? [`${formatPlural(wrongVertices, 'vertex', 'vertices')}${part ? ` of ${part}` : ''}`] : [],
    );
    const guess = why === 'SMALLER' || why === 'COST' ? `, ${Math.round(100 * confidence)} % sure` : '';
    const show = make('button', { type: 'button', className: 'button' }, 'Show');
    show.addEventListener('click', () => actions.showContour(contour));
    const turn = make('button', { type: 'button', className: 'button' }, isTurned ? 'Turn back' : 'Turn');
    turn.setAttribute('aria-label', `${isTurned ? 'Turn back' : 'Turn'} contour ${id}`);
    turn.addEventListener('click', () => actions.turnContour(id));
    return make(
      'li',
      {},
      make('p', {}, make('b', {}, `Contour ${id}: `), `${kind.toLowerCase()}, ${formatPlural(pierces, 'pierce')}`),
      make(
        'p',
        { className: 'note' },
        `On the wrong side: ${wrong.join(' and ') || 'nothing'}; ${isTurned ? 'turned by you' : `${WHY[why]}${guess}`}.`,
      ),
      make('p', { className: 'actions' }, show, why !== 'BODY' && turn),
    );
  });
  return [
    make(
      'section',
      { id: 'untangled' },
      make('p', { className: 'status' }, make('span', { className: `pill ${tone}` }, word)),
      make('p', { className: 'note' }, sentence),
    ),
    section(
      'Untangling',
      definitions('pairs', [
        ['Pierces in the start', formatCount(report.piercesBefore)],
        ['Pierces in the answer', formatCount(report.piercesAfter)],
        [
          'Regions moved, mean and maximum',
          `${formatLength(report.regions.mean, unit)}, ${formatLength(report.regions.max, unit)}`,
        ],
        [
          'Others moved, mean and maximum',
          `${formatLength(report.outside.mean, unit)}, ${formatLength(report.outside.max, unit)}`,
        ],
        [
          'Edges, relative to rest',
          `${formatNumber(report.minStretch)}\u00a0to\u00a0${formatNumber(report.maxStretch)}`,
        ],
        ...(report.limitedRegions > 0
          ? [['Regions too large to follow to their end', formatCount(report.limitedRegions)] as const]
          : []),
      ]),
    ),
    ...(items.length > 0 ? [section('Contours', make('ul', { id: 'contours' }, ...items))] : []),
  ];
}
