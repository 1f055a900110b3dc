/** A message of the contract as plain data, with names in lowerCamelCase; unset fields are absent. */
export interface WireMessage {
  readonly [name: string]: WireValue | undefined;
}

/**
 * Enums are numbers, 64-bit integers bigint, bulk fields bytes, durations and timestamps {@link WireTime}. Objects of a
 * protobuf library (null for unset fields, numbers or objects for 64-bit integers) are valid too.
 */
export type WireValue =
  | number
  | bigint
  | string
  | boolean
  | null
  | ArrayBufferView
  | WireMessage
  | readonly WireValue[]
  | WireTime;

/** Largest google.protobuf.Duration: about 10,000 years. */
export const MAX_DURATION_SECONDS = 315_576_000_000;

/** google.protobuf.Duration or Timestamp. */
export interface WireTime {
  readonly seconds: number | bigint;
  readonly nanos: number;
}

/** Seconds of a duration, rounded to the nearest double. */
export function durationToSeconds(duration: { readonly seconds: unknown; readonly nanos: number }): number {
  return Number(duration.seconds) + duration.nanos / 1e9;
}

/** @param seconds rounded to nanoseconds, the resolution of a Duration */
export function secondsToDuration(seconds: number): WireTime {
  const whole = Math.trunc(seconds);
  const nanos = Math.round((seconds - whole) * 1e9);
  // A fraction close to 1 may round up to a full second, which `nanos` must not contain.
  return Math.abs(nanos) === 1e9 ? { seconds: whole + Math.sign(nanos), nanos: 0 } : { seconds: whole, nanos };
}

/**
 * Largest number of fields in one body. A mesh with many thousand parts has some ten thousand fields. But an empty part
 * has only two bytes, so without this limit a body within the size limit could fill the memory with objects.
 */
export const MAX_FIELDS = 1 << 20;
