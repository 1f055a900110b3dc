/** A message of the contract as plain data: lowerCamelCase names, unset fields absent. */
export interface WireMessage {
  readonly [name: string]: WireValue | undefined;
}

/**
 * Enums are numbers, 64-bit integers bigint, bulk fields bytes, durations and timestamps {@link WireTime}. What a
 * protobuf library hands out (null for unset, numbers or objects for 64-bit integers) is a WireMessage too.
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

/** google.protobuf.Duration or Timestamp. */
export interface WireTime {
  readonly seconds: number | bigint;
  readonly nanos: number;
}

/** Seconds of a duration, rounded to the nearest double. */
export function durationToSeconds(duration: { readonly seconds: unknown; readonly nanos: number }): number {
  return Number(duration.seconds) + duration.nanos / 1e9;
}

/** @param seconds rounded to the nanosecond, which is what a Duration can hold */
export function secondsToDuration(seconds: number): WireTime {
  const whole = Math.trunc(seconds);
  const nanos = Math.round((seconds - whole) * 1e9);
  // A fraction within half a nanosecond of one rounds up to a full second, which `nanos` may not hold.
  return Math.abs(nanos) === 1e9 ? { seconds: whole + Math.sign(nanos), nanos: 0 } : { seconds: whole, nanos };
}
