import type { Explorer } from './explorer.js';
import type { Service } from './service/service.js';
import { withUntangled } from './study.js';
import { byId } from './ui/dom.js';

/** Asks the service to untangle the start that is shown, and shows contours, regions and chosen sides; a side can be turned. */
export class Untangler {
  #running: AbortController | undefined;

  constructor(
    private readonly explorer: Explorer,
    private readonly service: Service | undefined,
    private readonly showTab: (name: string) => void,
    /** @returns what ends it */
    private readonly showBusy: (text: string, note: string) => () => void,
    private readonly report: (thrown: unknown, again: () => void) => void,
  ) {
    byId('untangle').addEventListener('click', () => void this.ask([]));
    explorer.onTurn = (turned) => void this.ask(turned);
  }

  /** @param turned ids of contours */
  async ask(turned: readonly number[]): Promise<void> {
    const { study } = this.explorer;
    if (!study || !this.service) return;
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const button = byId<HTMLButtonElement>('untangle');
    button.disabled = true;
    const note = 'The start is brought to a state without intersections.';
    let endBusy = this.showBusy('The service untangles…', note);
    try {
      const { mesh, start } = study;
      const untangled = await this.service.untangle(mesh, start, turned, {
        signal: running.signal,
        onProgress: ({ iteration, pierces }) => {
          if (iteration > 0)
            endBusy = this.showBusy('The service untangles…', `iteration ${iteration}, ${pierces} pierces`);
        },
      });
      // Another mesh may have been opened meanwhile.
      if (running !== this.#running || this.explorer.study?.mesh !== mesh) return;
      this.explorer.load(withUntangled(study, untangled, turned), true);
      this.explorer.setField('regions');
      byId('saving').hidden = false;
      byId('scene-text').textContent = `The start was untangled: ${untangled.report.status.toLowerCase()}.`;
      this.showTab('result');
    } catch (thrown) {
      if (!running.signal.aborted) this.report(thrown, () => void this.ask(turned));
    } finally {
      if (running === this.#running) {
        endBusy();
        button.disabled = false;
      }
    }
  }
}
