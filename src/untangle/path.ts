import type { EnginePositions } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import type { RegionsLeftOut } from './left-out.js';
import type { UntanglePiece } from './problem.js';

/** The path from the start to the best state, for somebody who listens. What leads to no better state is no part of it. */
export class Path {
  readonly #frame: CoordinateFrame;
  readonly #onPiece: ((piece: UntanglePiece) => void) | undefined;
  /** since the last state that was kept */
  readonly #pieces: UntanglePiece[] = [];

  constructor(frame: CoordinateFrame, onPiece: ((piece: UntanglePiece) => void) | undefined) {
    this.#frame = frame;
    this.#onPiece = onPiece;
  }

  /**
   * What notes the pieces of a resolve.
   *
   * @param x its start @param iteration that makes it; 0 = the pull-back of a free state
   */
  recorder(x: EnginePositions, leftOut: RegionsLeftOut | undefined, iteration: number) {
    if (!this.#onPiece) return {};
    let from = this.#frame.toDouble(x);
    return {
      onState: (state: EnginePositions) => {
        const to = this.#frame.toDouble(state);
        this.#pieces.push({ from, to, leftOut, iteration });
        from = to;
      },
    };
  }

  /** The pieces since the last state that was kept lead to one that is. */
  keep(): void {
    for (const piece of this.#pieces) this.#onPiece?.(piece);
    this.#pieces.length = 0;
  }

  /** Back at the last state that was kept. */
  forget(): void {
    this.#pieces.length = 0;
  }
}
