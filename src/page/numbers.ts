/** Numbers that a user writes in a field; an empty field has none. */

/** A comma before groups of three digits: in some languages it begins a fraction, in others it only separates thousands. */
const AMBIGUOUS = /^[1-9]\d{0,2}(,\d{3})+$/;

/**
 * A number that is not negative, with a point or a comma before its fraction.
 *
 * @param name of the field @throws Error with a message for the user
 */
export function readNumber(text: string, name: string): number | undefined {
  const written = text.trim();
  if (written === '') return undefined;
  if (AMBIGUOUS.test(written)) {
    const whole = written.replaceAll(',', '');
    const other = written.indexOf(',') === written.lastIndexOf(',') ? ` or ${written.replace(',', '.')}` : '';
    throw new Error(`${name}: “${written}” could be ${whole}${other}. Write it without a comma.`);
  }
  const value = Number(written.replace(',', '.'));
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${name}: “${written}” is no number from 0 up.`);
}

/** A whole number that is not negative: a comma has no place in it. @param name of the field @throws Error, as above */
export function readCount(text: string, name: string): number | undefined {
  const value = readNumber(text, name);
  if (value === undefined || (Number.isInteger(value) && !text.includes(','))) return value;
  throw new Error(`${name}: “${text.trim()}” is no whole number from 0 up.`);
}
