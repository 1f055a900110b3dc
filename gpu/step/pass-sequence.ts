import type { Stage } from './recorder.js';
import type { StageClock } from './stage-clock.js';

/** One pass for everything, or one for each stage where stages are timed. */
export class PassSequence {
  readonly #encoder: GPUCommandEncoder;
  readonly #clock: StageClock | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #stage: Stage | undefined;

  constructor(encoder: GPUCommandEncoder, clock: StageClock | undefined) {
    this.#encoder = encoder;
    this.#clock = clock;
  }

  enter(stage: Stage): GPUComputePassEncoder {
    if (this.#pass && (this.#clock === undefined || stage === this.#stage)) return this.#pass;
    this.#pass?.end();
    this.#stage = stage;
    this.#pass = this.#clock ? this.#clock.beginPass(this.#encoder, stage) : this.#encoder.beginComputePass();
    return this.#pass;
  }

  end(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}
