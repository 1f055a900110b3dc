import type { Explorer } from './explorer.js';
import type { Service } from './service/service.js';
import { renderDiagnosis } from './ui/diagnosis.js';
import { byId } from './ui/dom.js';

/** Asks the service to diagnose the mesh that is shown, and lists the findings beside the scene. */
export class Doctor {
  #running: AbortController | undefined;

  constructor(
    private readonly explorer: Explorer,
    private readonly service: Service | undefined,
    private readonly showTab: (name: string) => void,
    private readonly report: (thrown: unknown, again: () => void) => void,
  ) {
    byId('diagnose').addEventListener('click', () => void this.ask());
  }

  async ask(): Promise<void> {
    const { study } = this.explorer;
    if (!study || !this.service) return;
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const button = byId<HTMLButtonElement>('diagnose');
    button.disabled = true;
    button.textContent = 'Diagnosing…';
    try {
      const { mesh, start, target } = study;
      const diagnosis = await this.service.diagnose(mesh, start, target, running.signal);
      // Another mesh may have been opened meanwhile.
      if (this.explorer.study?.mesh !== mesh) return;
      renderDiagnosis(byId('result'), diagnosis, (pairs) => {
        this.explorer.showFaults({
          code: '',
          message: '',
          hint: '',
          pairs,
          pairCount: pairs.length,
          element: undefined,
          isRetryable: false,
        });
        this.explorer.stage.lookAt(pairs.flatMap(({ a, b }) => [...a, ...b]));
      });
      this.showTab('result');
      byId('scene-text').textContent = byId('diagnosis-verdict').textContent;
      // On a phone the results lie below the scene, out of sight.
      byId('panel').scrollIntoView();
    } catch (thrown) {
      if (!running.signal.aborted) this.report(thrown, () => void this.ask());
    } finally {
      if (running === this.#running) {
        button.disabled = false;
        button.textContent = 'Diagnose';
      }
    }
  }
}
