import { partsOfGroups } from '../mesh/files/obj-groups.js';
import type { Explorer } from './explorer.js';
import type { Runner } from './runner.js';
import type { Tangle } from './service/kept-job.js';
import type { Service } from './service/service.js';
import { type Hints, type Study, studyOfPair, withUntangled } from './study.js';
import { byId } from './ui/dom.js';
import { LayersDialog } from './ui/layers-dialog.js';

/** Asks the service to untangle the shown start, and shows its contours, regions and sides; sides can be turned. */
export class Untangler {
  readonly #dialog: LayersDialog;
  /** number of untanglings that were begun */
  #turn = 0;

  constructor(
    private readonly explorer: Explorer,
    private readonly service: Service | undefined,
    private readonly runner: Runner,
    private readonly showTab: (name: string) => void,
  ) {
    this.#dialog = new LayersDialog((layers) => void this.#ask({ layers, turned: [] }));
    byId('untangle').addEventListener('click', () => this.#begin());
    explorer.onTurn = (turned) => void this.#ask({ layers: explorer.study?.hints?.layers ?? [], turned });
  }

  /** If parts have names, asks the user which of them lie on top of each other. */
  #begin(): void {
    const { study } = this.explorer;
    const names = (study && partsOf(study))?.map(({ name }) => name) ?? [];
    if (names.length > 1) this.#dialog.open(names);
    else void this.#ask(NO_HINTS);
  }

  /** Continues an untangling that this page requested before a reload. */
  resume(id: string, tangle: Tangle): void {
    this.runner.show(tangle.study);
    void this.#follow(tangle, id);
  }

  async #ask(hints: Hints): Promise<void> {
    const { study } = this.explorer;
    if (study) await this.#follow({ study, hints });
  }

  /** @param continued the job that computes it, if there is one */
  async #follow(tangle: Tangle, continued?: string): Promise<void> {
    const { service } = this;
    if (!service) return;
    const { study, hints } = tangle;
    const { title, mesh, start, target, source } = study;
    const parts = partsOf(study);
    const named = parts ? { ...mesh, parts } : mesh;
    const shown = { ...studyOfPair({ title, mesh, start, target }), ...(source ? { source } : {}) };
    const turn = ++this.#turn;
    const button = byId<HTMLButtonElement>('untangle');
    button.disabled = true;
    const untangled = await this.runner.during(
      {
        vertices: mesh.vertexCount,
        kept: { tangle: { study: shown, hints } },
        submit: (asked) => service.untangle(named, start, hints, asked),
        resume: (id, asked) => service.resumeUntangling(id, asked),
      },
      (id) => void this.#follow(tangle, id),
      continued,
    );
    // The button belongs to the last untangling that was begun.
    if (turn === this.#turn) button.disabled = false;
    // Another mesh may have been opened meanwhile.
    if (!untangled || this.explorer.study?.mesh !== mesh) return;
    this.explorer.load(withUntangled(study, untangled, hints), true);
    this.explorer.setField('regions');
    byId('saving').hidden = false;
    byId('scene-text').textContent = `The start was untangled: ${untangled.report.status.toLowerCase()}.`;
    this.showTab('result');
  }
}

const NO_HINTS: Hints = { layers: [], turned: [] };

/** The parts of the mesh, or the objects or groups of the start's file; undefined = none. */
const partsOf = ({ mesh, source }: Study) => mesh.parts ?? (source && partsOfGroups(source.file));
