import type { StrainElements } from '../../src/solver/strain/elements.js';
import { WORKGROUP_SIZE } from '../device/dispatch.js';
import type { Pass } from '../device/recording.js';
import { STEP_SLOT } from '../kernels/constants.js';
import type { Dispatcher } from './dispatcher.js';
import { wideColoursOf } from './strain-buffers.js';

/**
 * Records the kernels of strain limits in the pull-back, gpu/kernels/strain. They check the state of the run themselves
 * if they have a thread per element or a workgroup per component, whose numbers the host knows.
 */
export class StrainRecorder {
  readonly #dispatcher: Dispatcher;
  readonly #elements: StrainElements;
  readonly #wideColours: number;

  constructor(dispatcher: Dispatcher, elements: StrainElements) {
    this.#dispatcher = dispatcher;
    this.#elements = elements;
    this.#wideColours = wideColoursOf(elements);
  }

  /** Begins the pull-back. @param edges number of edges with a length constraint */
  open(pass: Pass, edges: number): void {
    const { count, components, offsets } = this.#elements;
    this.#dispatcher.direct(pass, 'openStrains', Math.max(count, components, offsets.length));
    if (edges > 0) this.#dispatcher.direct(pass, 'freeEdges', edges);
  }

  /** After y was rebuilt: one share of the way for the vertices of a component. */
  settlePaces(pass: Pass): void {
    this.#overComponents(pass, 'settlePaces');
  }

  /** Before the sweeps of a step: y is moved by a share of the last multipliers, and elements get their rotations. */
  begin(pass: Pass): void {
    this.#overComponents(pass, 'noteStart');
    this.sweep(pass);
    this.#overComponents(pass, 'settleShares');
    this.#dispatcher.direct(pass, 'findFrames', this.#elements.count);
  }

  /** One sweep, colour by colour. */
  sweep(pass: Pass): void {
    const { offsets } = this.#elements;
    for (let c = 0; c < this.#wideColours; c++) {
      this.#dispatcher.direct(pass, 'strainsWide', offsets[c + 1] - offsets[c], c);
    }
    this.#dispatcher.direct(pass, 'strainsTail', 1, this.#wideColours);
  }

  /** After a round of sweeps: the run pauses if it requires another one. */
  judge(pass: Pass): void {
    this.#overComponents(pass, 'spanMotions');
    this.#dispatcher.indirect(pass, 'weighStretch', STEP_SLOT.SUMS);
    this.#dispatcher.direct(pass, 'judgeSweeps', 1);
  }

  /** After the last round: motions no longer than the longest, by component. */
  end(pass: Pass): void {
    this.#overComponents(pass, 'shortenMotions');
  }

  /** Reduces α of vertices whose neighbours are held. */
  holdBack(pass: Pass): void {
    this.#dispatcher.direct(pass, 'listHeldStrains', this.#elements.count);
    this.#dispatcher.direct(pass, 'holdBackStrains', 1);
  }

  /** Adds the parts of Φ. */
  weigh(pass: Pass): void {
    this.#dispatcher.indirect(pass, 'weighStrains', STEP_SLOT.SUMS);
  }

  #overComponents(
    pass: Pass,
    entry: 'settlePaces' | 'noteStart' | 'settleShares' | 'spanMotions' | 'shortenMotions',
  ): void {
    this.#dispatcher.direct(pass, entry, WORKGROUP_SIZE * this.#elements.components);
  }
}
