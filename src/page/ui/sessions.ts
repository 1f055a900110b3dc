import { formatCount, formatLength, formatMicroseconds, formatPlural, type LengthUnit } from '../format.js';
import type { ListedSession, Service } from '../service/service.js';
import { definitions, make } from './dom.js';
import { timingBars } from './result.js';

/** Time between two requests to the service while the list is shown, milliseconds. */
const INTERVAL_MS = 1500;
/** Frames whose times are kept for the chart of a session. */
const KEPT_FRAMES = 60;

interface Seen {
  readonly frame: number;
  readonly microseconds: number;
}

/** The sessions of the service, live: the frame of each, the time of the last one, and its proximity set. */
export class SessionsPane {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** whether an answer of the service is awaited */
  #isAsking = false;
  /** by session that is listed, the times of the frames that were seen */
  readonly #history = new Map<string, Seen[]>();

  /** @param service undefined in a page without a service */
  constructor(
    private readonly pane: HTMLElement,
    private readonly service: Service | undefined,
    private readonly onError: (thrown: unknown, again: () => void) => void,
    private readonly unit: () => LengthUnit,
  ) {}

  show(): void {
    if (!this.service) {
      this.#say('A page without a service has no sessions.');
      return;
    }
    if (this.#timer === undefined) void this.#look();
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #say(text: string): void {
    this.pane.replaceChildren(make('p', { className: 'empty' }, text));
  }

  async #look(): Promise<void> {
    this.#timer = setTimeout(() => void this.#look(), INTERVAL_MS);
    // A page in the background sends no requests, and answers that take longer than the interval must not cross.
    if (document.hidden || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const sessions = await this.service!.sessions();
      if (this.#timer !== undefined) this.#draw(sessions);
    } catch (thrown) {
      this.hide();
      this.#say('The sessions could not be read.');
      this.onError(thrown, () => this.show());
    } finally {
      this.#isAsking = false;
    }
  }

  #draw(sessions: readonly ListedSession[]): void {
    const listed = new Set(sessions.map(({ id }) => id));
    for (const id of this.#history.keys()) if (!listed.has(id)) this.#history.delete(id);
    if (sessions.length === 0) {
      this.#say(
        'This service has no open session of yours. Solvers open one for each mesh; it then appears here with its frames.',
      );
      return;
    }
    const list = make('ul', { className: 'list' });
    for (const session of sessions) list.append(make('li', { className: 'session' }, ...this.#describe(session)));
    this.pane.replaceChildren(list);
  }

  #describe(session: ListedSession): HTMLElement[] {
    const { id, label, frame, residency, mesh, lastReport: report, deviceBytes } = session;
    const elements = (
      [
        ['triangle', mesh.triangles],
        ['segment', mesh.segments],
        ['particle', mesh.particles],
      ] as const
    )
      .filter(([, count]) => count > 0)
      .map(([name, count]) => formatPlural(count, name));
    const head = [
      make('h3', {}, label || `Session ${id.slice(0, 8)}…`),
      make('p', { className: 'note' }, [formatPlural(mesh.vertices, 'vertex', 'vertices'), ...elements].join(', ')),
    ];
    if (!report) return [...head, make('p', { className: 'note' }, 'No step yet.')];
    const { pairs } = report;
    const held = pairs.vertexTriangle + pairs.edgeEdge + pairs.vertexEdge + pairs.vertexVertex;
    return [
      ...head,
      definitions('pairs', [
        ['Frame', formatCount(frame)],
        ['Last step', `${report.status.toLowerCase().replace('_', ' ')}, ${formatPlural(report.steps, 'step')}`],
        ['Took', formatMicroseconds(report.timings.total)],
        ['Proximity set', `${formatPlural(held, 'pair')}, ${report.proximitySetReused ? 'kept' : 'searched anew'}`],
        ['Searches', formatCount(report.searches)],
        ['Active contacts', formatCount(pairs.activeContacts)],
        ['Distance to target', formatLength(report.distanceToTargetRms, this.unit())],
        ['Memory', `${formatCount(Math.round(deviceBytes / 1024))} KiB, ${residency.toLowerCase()}`],
      ]),
      ...this.#chart(id, { frame, microseconds: report.timings.total }),
      ...timingBars(report.timings),
    ];
  }

  /** Times of the frames that were seen, as columns. */
  #chart(id: string, seen: Seen): HTMLElement[] {
    const history = this.#history.get(id) ?? [];
    if (history.at(-1)?.frame !== seen.frame) history.push(seen);
    while (history.length > KEPT_FRAMES) history.shift();
    this.#history.set(id, history);
    if (history.length < 2) return [];
    const most = Math.max(...history.map(({ microseconds }) => microseconds));
    const chart = make('div', { className: 'spark' });
    chart.setAttribute('role', 'img');
    chart.setAttribute(
      'aria-label',
      `Times of the last ${history.length} frames seen, at most ${formatMicroseconds(most)}`,
    );
    for (const { microseconds, frame } of history) {
      const bar = make('i', { title: `frame ${frame}: ${formatMicroseconds(microseconds)}` });
      bar.style.height = `${(100 * microseconds) / most}%`;
      chart.append(bar);
    }
    return [chart];
  }
}
