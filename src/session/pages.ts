import { IntersticeError } from '../contract/errors.js';

/** The items of a tenant that a caller requests. */
export interface PageRequest {
  readonly pageSize?: number;
  readonly pageToken?: string;
  /** Only items with this label; empty = all. */
  readonly label?: string;
}

interface Listed {
  readonly label: string;
}

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 500;

/**
 * One page of a list, oldest first. It continues after the last item of the previous page, so items that are created or
 * deleted in between cause neither repetitions nor gaps.
 *
 * @param items by an order that grows with their creation
 * @param method whose answers contain the token, for the hint
 * @throws INVALID_PARAMETER
 */
export function pageOf<T extends Listed>(
  items: Iterable<readonly [order: number, item: T]>,
  { pageSize, pageToken, label }: PageRequest,
  method: string,
): { readonly page: readonly T[]; readonly nextPageToken: string } {
  const size = readPageSize(pageSize);
  const after = readToken(pageToken, method);
  const page: T[] = [];
  let last = 0;
  let hasMore = false;
  for (const [order, item] of items) {
    if (order <= after || (label !== undefined && label !== '' && item.label !== label)) continue;
    hasMore = page.length === size;
    if (hasMore) break;
    page.push(item);
    last = order;
  }
  return { page, nextPageToken: hasMore ? writeToken(last) : '' };
}

/** One of the transports cannot distinguish 0 from unset. */
function readPageSize(pageSize = 0): number {
  if (pageSize === 0) return DEFAULT_PAGE_SIZE;
  if (Number.isInteger(pageSize) && pageSize > 0 && pageSize <= MAX_PAGE_SIZE) return pageSize;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `Field pageSize is ${pageSize}; it must be a whole number from 1 to ${MAX_PAGE_SIZE}, or unset for ${DEFAULT_PAGE_SIZE}.`,
  );
}

const PAGE_TOKEN = /^after:(\d{1,15})$/;

function writeToken(order: number): string {
  return Buffer.from(`after:${order}`).toString('base64url');
}

function readToken(token = '', method: string): number {
  if (token === '') return 0;
  const order = PAGE_TOKEN.exec(Buffer.from(token, 'base64url').toString('latin1'))?.[1];
  if (order !== undefined && writeToken(Number(order)) === token) return Number(order);
  throw new IntersticeError('INVALID_PARAMETER', 'Field pageToken is not valid.', {
    hint: `Use nextPageToken from an earlier ${method} response, or leave the field unset for the first page.`,
  });
}
