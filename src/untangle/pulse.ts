/** To be called at short intervals; may throw, which ends what calls it. */
export type Pulse = () => void;

/** Items between two pulses in a loop that spends some microseconds on each: pierces, edges, vertices. */
export const ITEMS_PER_PULSE = 4096;
