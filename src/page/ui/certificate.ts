import type { CertificateVerdict } from '../../../checker/certificate.mjs';
import { formatCount, formatPlural } from '../format.js';
import { definitions, make, section } from './dom.js';

/** The verdict on a certificate in plain words, and the statements of the file itself. */
export function certificateSections(verdict: CertificateVerdict): HTMLElement[] {
  const { isConfirmed, problems, problemCount, states, pieces, pairs, sha256, header } = verdict;
  const sentence = isConfirmed
    ? `Checked in this browser: in none of its ${formatPlural(states, 'state')} does anything intersect, and on none of the ${formatPlural(pieces, 'piece')} between them does anything collide. The first state is the start, the last one the answer.`
    : 'The check in this browser failed. Do not rely on this file.';
  const unnamed = problemCount - problems.length;
  return [
    make(
      'section',
      { id: 'certificate' },
      make(
        'p',
        { className: 'status' },
        make(
          'span',
          { className: `pill ${isConfirmed ? 'good' : 'bad'}` },
          isConfirmed ? 'certificate confirmed' : 'certificate refused',
        ),
      ),
      make('p', { className: 'note' }, sentence),
      header?.skipKinematic === true &&
        make(
          'p',
          { className: 'note' },
          'The certificate does not cover pairs of obstacles: it promises nothing for them.',
        ),
    ),
    ...(problems.length > 0
      ? [
          section(
            formatPlural(problemCount, 'problem'),
            make('ul', {}, ...problems.map((problem) => make('li', {}, problem))),
            unnamed > 0 && make('p', { className: 'note' }, `and ${formatCount(unnamed)} more`),
          ),
        ]
      : []),
    section(
      'Certificate',
      definitions('pairs', [
        ['States', formatCount(states)],
        ['Near pairs proved apart', formatCount(pairs)],
        ['Written by (not checked)', header?.writtenBy],
        ['Engine (not checked)', header?.engine],
        ['SHA-256 of the file', make('code', {}, sha256)],
      ]),
    ),
  ];
}
