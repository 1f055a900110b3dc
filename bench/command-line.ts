import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The flags of a program. A mistake in them is told with the help, and ends the process with code 2. */
export function readFlags<const T extends ParseArgsConfig>(
  help: string,
  config: T,
): ReturnType<typeof parseArgs<T>>['values'] {
  try {
    return parseArgs(config).values;
  } catch (thrown) {
    if (!String((thrown as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_')) throw thrown;
    return endWithUsage((thrown as Error).message, help);
  }
}

/** The number that a flag or an argument gives; one that is not above 0 is a mistake. @param isWhole whether it counts something */
export function readNumber(help: string, name: string, text: string, isWhole = true): number {
  const value = Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY && (!isWhole || Number.isInteger(value))) return value;
  return endWithUsage(`${name} is ${text}; it must be a ${isWhole ? 'whole ' : ''}number above 0.`, help);
}

/** The whole number that a flag gives; one that is less than the least that makes sense is a mistake. */
export function readCount(help: string, name: string, text: string, least: number): number {
  const value = readNumber(help, name, text);
  return value >= least ? value : endWithUsage(`${name} is ${text}; it must be at least ${least}.`, help);
}

/** The word that a flag gives; one that is not in the list is a mistake. */
export function readWord<T extends string>(help: string, name: string, text: string, words: readonly T[]): T {
  return (
    words.find((word) => word === text) ??
    endWithUsage(`${name} is ${text}; it must be one of ${words.join(', ')}.`, help)
  );
}

/** Ends the process with code 2. @param message a sentence */
export function endWithUsage(message: string, help: string): never {
  process.stderr.write(`${message}\n\n${help}`);
  process.exit(2);
}
