/** UTF-16 code units of a text that a message repeats, where no place allows fewer: enough to recognize it. */
const MAX_SHOWN_UNITS = 100;

/** A text of the caller as messages repeat it: quoted, and only its beginning if it is long. */
export function quote(text: string, most = MAX_SHOWN_UNITS): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text);
}

/** "1 session", "2 sessions". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
