const DAY_MS = 86_400_000;

/**
 * Whether an item is due today, if a hurried campaign tries one in this many items per day, and all of them in as many
 * days.
 *
 * @param index of the item among all
 */
export const isOfToday = (index: number, days: number): boolean =>
  index % days === Math.floor(Date.now() / DAY_MS) % days;
