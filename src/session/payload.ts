import type { CreateSessionRequest, StepRequest } from '../contract/sessions.js';

type Bulk = Uint8Array | Uint32Array | Float32Array | Float64Array;

/** A view of less than this share of its buffer is copied even if it need not be: it would keep all of the buffer alive. */
const KEPT_SHARE = 0.9;

/** %TypedArray%.prototype.slice: a Buffer's own `slice` copies nothing. */
const sliceOf = Object.getPrototypeOf(Uint8Array.prototype).slice as (this: Bulk) => Bulk;

/**
 * Plain data whose arrays are nobody else's: callers re-use their buffers, and a decoded array is a view into a whole
 * request body. Two names for one array stay two names for one copy.
 *
 * @param isHandedOver the arrays are nobody else's already: those that fill their buffers are kept as they are
 */
export function ownCopy<T>(value: T, isHandedOver = false): T {
  const copies = new Map<Bulk, Bulk>();
  const copy = (item: unknown): unknown => {
    if (isBulk(item)) {
      if (isHandedOver && item.byteLength >= KEPT_SHARE * item.buffer.byteLength) return item;
      const own = copies.get(item) ?? sliceOf.call(item);
      copies.set(item, own);
      return own;
    }
    if (Array.isArray(item)) return item.map(copy);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([key, part]) => [key, copy(part)]));
  };
  return copy(value) as T;
}

/**
 * Whether two steps ask for the same answer: target, start, mesh changes, parameters and what to include, compared by
 * content. How long the caller would wait and how urgently is no part of it: a client that tries again has less time left.
 */
export function isSamePayload(a: StepRequest, b: StepRequest): boolean {
  return isSame(payloadOf(a), payloadOf(b));
}

function payloadOf({ target, partTargets, start, kinematic, masses, override, include }: StepRequest) {
  return {
    target,
    partTargets: partTargets?.length === 0 ? undefined : partTargets,
    start,
    kinematic,
    masses,
    override,
    contacts: include?.contacts || undefined,
    vertices: include?.vertices || undefined,
    contactDistance: include?.contacts ? include.contactDistance : undefined,
  };
}

/** What an idempotency key stands for, less the mesh and the start, which have a hash. */
export type OpeningTerms = Pick<CreateSessionRequest, 'parameters' | 'label' | 'idleTimeoutSeconds'>;

export function isSameOpening(a: OpeningTerms, b: OpeningTerms): boolean {
  const opening = ({ parameters, label, idleTimeoutSeconds }: OpeningTerms) => ({
    parameters,
    label: label ?? '',
    idleTimeoutSeconds,
  });
  return isSame(opening(a), opening(b));
}

/** Deep, by content; a key that is undefined is a key that is not there; arrays of different types differ. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isBulk(a) || isBulk(b)) return isBulk(a) && isBulk(b) && isSameBulk(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...keysOf(a), ...keysOf(b)]);
  for (const key of keys) if (!isSame(a[key as keyof typeof a], b[key as keyof typeof b])) return false;
  return true;
}

function keysOf(value: object): string[] {
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key]) => key);
}

/** Bit for bit: −0 is another payload than 0, and answers may differ by it. */
function isSameBulk(a: Bulk, b: Bulk): boolean {
  return kindOf(a) === kindOf(b) && bytesIn(a).equals(bytesIn(b));
}

/** A Buffer is a Uint8Array. */
function kindOf(array: Bulk): string {
  return array instanceof Uint8Array ? 'Uint8Array' : array.constructor.name;
}

function bytesIn({ buffer, byteOffset, byteLength }: Bulk): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isBulk(value: unknown): value is Bulk {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}
