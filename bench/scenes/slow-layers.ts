/**
 * Ends of the frames of a session in slow contact, as shares of the way of the example `layers`: the layers have met at
 * half of it, and from then on each frame presses them together a little more.
 */
export const SLOW_SHARES: readonly number[] = [0.6, 0.61, 0.62, 0.63, 0.64];
