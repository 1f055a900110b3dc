const DAY_MS = 86_400_000;

/**
 * Whether it is the turn of a thing today, where a hurried campaign tries one in so many things a day and in as many days all of them.
 *
 * @param index of the thing among all
 */
export const isOfToday = (index: number, days: number): boolean =>
  index % days === Math.floor(Date.now() / DAY_MS) % days;
