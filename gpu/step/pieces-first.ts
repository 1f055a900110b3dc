import type { BeforeSteps } from '../../src/solver/before-steps.js';
import type { Resolution, StepInput } from '../../src/solver/engine.js';
import type { Settings } from '../../src/solver/settings.js';
import { StepAbandoned } from '../../src/solver/step-abandoned.js';

/**
 * Motions before the first step are computed on the host; the device continues from there. Where they use up the step
 * limit, its opening alone decides how the run ends.
 *
 * @param run continues from a request's start with a step limit of its own
 * @returns the resolution, with the pieces counted as steps
 */
export async function runAfterPieces(
  before: BeforeSteps,
  settings: Settings,
  input: StepInput,
  run: (stepLimit: number, input: StepInput) => Promise<Resolution>,
): Promise<Resolution> {
  const { stepLimit } = settings;
  const { onState } = input;
  const x = input.x.slice();
  const pulse = (): void => {
    if ((input.timeLeft?.() ?? Number.POSITIVE_INFINITY) <= 0) throw new StepAbandoned();
  };
  const { pieces, isGivenUp } = before.move(settings, input, x, pulse);
  if (pieces === 0 && !isGivenUp) return await run(stepLimit, input);
  const resolution = await run(stepLimit - pieces, {
    ...input,
    x,
    shouldStop: () => isGivenUp || (input.shouldStop?.() ?? false),
    onProgress: (progress) => input.onProgress?.({ ...progress, steps: progress.steps + pieces }),
    ...(onState
      ? { onState: (x, from, isPassed) => onState(x, from && { ...from, step: from.step + pieces }, isPassed) }
      : {}),
  });
  const { holds } = resolution;
  return {
    ...resolution,
    steps: resolution.steps + pieces,
    ...(holds ? { holds: { ...holds, since: holds.since.map((step) => (step > 0 ? step + pieces : 0)) } } : {}),
  };
}
