import type { EnginePositions } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import type { RegionsLeftOut } from './left-out.js';
import type { UntanglePiece } from './problem.js';

/** Reports the path from the start to the best state. Pieces that lead to no better state do not belong to it. */
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
   * The listener that records the pieces of a resolve.
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

  /** Keeps the pieces since the last kept state, because they lead to a better one. */
  keep(): void {
    for (const piece of this.#pieces) this.#onPiece?.(piece);
    this.#pieces.length = 0;
  }

  /** Drops the pieces since the last kept state. */
  forget(): void {
    this.#pieces.length = 0;
  }
}
