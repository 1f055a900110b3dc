import { createHash } from 'node:crypto';
import type { SubmitJobRequest } from '../contract/long-jobs.js';
import type { CreateSessionRequest, StepRequest } from '../contract/sessions.js';

type BulkArray = Uint8Array | Uint32Array | Float32Array | Float64Array;

/** A view of less than this share of its buffer is copied in any case: it would keep the whole buffer in memory. */
const MIN_VIEW_SHARE = 0.9;

/** %TypedArray%.prototype.slice; the `slice` of a Buffer copies nothing. */
const sliceOf = Object.getPrototypeOf(Uint8Array.prototype).slice as (this: BulkArray) => BulkArray;

/**
 * Copies the arrays of plain data: callers re-use their buffers, and a decoded array is a view into a whole request body.
 * Two references to one array become two references to one copy.
 *
 * @param isHandedOver the arrays already belong to the callee alone: those that fill their buffers are kept without a copy
 */
export function ownCopy<T>(value: T, isHandedOver = false): T {
  const copies = new Map<BulkArray, BulkArray>();
  const copy = (item: unknown): unknown => {
    if (isBulkArray(item)) {
      if (isHandedOver && item.byteLength >= MIN_VIEW_SHARE * item.buffer.byteLength) return item;
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
 * Whether two steps request the same answer: target, start, mesh changes, parameters and included parts of the answer,
 * compared by content. Time budget and priority do not count, because a client that retries has less time left.
 */
export function isSamePayload(a: StepRequest, b: StepRequest): boolean {
  return isEqual(payloadOf(a), payloadOf(b));
}

function payloadOf({ target, partTargets, scalar, start, kinematic, masses, override, include }: StepRequest) {
  return {
    target,
    partTargets: partTargets?.length === 0 ? undefined : partTargets,
    scalar,
    start,
    kinematic,
    masses,
    override,
    contacts: include?.contacts || undefined,
    vertices: include?.vertices || undefined,
    contactDistance: include?.contacts ? include.contactDistance : undefined,
    path: include?.path || undefined,
    reasons: include?.reasons || undefined,
  };
}

/** Equal for two steps if and only if {@link isSamePayload} holds for them: sha256, in hexadecimal digits. */
export function digestOf(request: StepRequest): string {
  return digest(payloadOf(request));
}

/** Digest of what an idempotency key stands for. @param contentHash of mesh and start */
export function digestOfCreation(terms: CreationTerms, contentHash: string): string {
  return digest({ ...termsOf(terms), contentHash });
}

/** Digest of what the key of a job stands for. Time budget and priority do not count, as for a step. */
export function digestOfJob({ resolve, step, untangle, label = '', keepForSeconds }: SubmitJobRequest): string {
  const terms = { label, keepForSeconds };
  if (step) {
    const { sessionId, frame, afterFrame, onBudget } = step;
    return digest({ ...terms, step: { sessionId, frame, afterFrame, onBudget, ...payloadOf(step) } });
  }
  const withoutHaste = <T extends object>(work: T | undefined) =>
    work && { ...work, timeBudgetSeconds: undefined, priority: undefined };
  return digest({ ...terms, resolve: withoutHaste(resolve), untangle: withoutHaste(untangle) });
}

/** Equal for two values if and only if {@link isEqual} holds for them. */
function digest(value: unknown): string {
  const hash = createHash('sha256');
  const add = (item: unknown): void => {
    if (isBulkArray(item)) {
      hash.update(`${typeNameOf(item)} ${item.byteLength}\n`).update(bytesIn(item));
    } else if (Array.isArray(item)) {
      hash.update(`list ${item.length}\n`);
      item.forEach(add);
    } else if (typeof item === 'object' && item !== null) {
      const keys = keysOf(item).sort();
      hash.update(`object ${JSON.stringify(keys)}\n`);
      for (const key of keys) add(item[key as keyof typeof item]);
    } else hash.update(`${typeof item} ${Object.is(item, -0) ? '-0' : JSON.stringify(String(item))}\n`);
  };
  add(value);
  return hash.digest('hex');
}

/** What an idempotency key stands for, except mesh and start, which are compared by their hash. */
export type CreationTerms = Pick<CreateSessionRequest, 'parameters' | 'label' | 'idleTimeoutSeconds' | 'untangle'>;

export function isSameCreation(a: CreationTerms, b: CreationTerms): boolean {
  return isEqual(termsOf(a), termsOf(b));
}

function termsOf({ parameters, label, idleTimeoutSeconds, untangle }: CreationTerms) {
  return { parameters, label: label ?? '', idleTimeoutSeconds, untangle };
}

/** Deep comparison by content. An undefined property equals an absent one; arrays of different types differ. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isBulkArray(a) || isBulkArray(b)) return isBulkArray(a) && isBulkArray(b) && isEqualArray(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...keysOf(a), ...keysOf(b)]);
  for (const key of keys) if (!isEqual(a[key as keyof typeof a], b[key as keyof typeof b])) return false;
  return true;
}

function keysOf(value: object): string[] {
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key]) => key);
}

/** Compares bit for bit: −0 and 0 are different payloads, because their answers may differ. */
function isEqualArray(a: BulkArray, b: BulkArray): boolean {
  return typeNameOf(a) === typeNameOf(b) && bytesIn(a).equals(bytesIn(b));
}

/** A Buffer counts as a Uint8Array. */
function typeNameOf(array: BulkArray): string {
  return array instanceof Uint8Array ? 'Uint8Array' : array.constructor.name;
}

function bytesIn({ buffer, byteOffset, byteLength }: BulkArray): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isBulkArray(value: unknown): value is BulkArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}
