import type { FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import { quote } from '../../contract/quote.js';
import type { OnBudget } from '../../contract/requests.js';

interface Budget {
  readonly timeBudgetSeconds?: number;
  readonly onBudget?: OnBudget;
}

const BUDGET_HEADER = 'interstice-time-budget-ms';
const ON_BUDGET_HEADER = 'interstice-on-budget';
/** Parameters of one step with bare positions, as JSON. */
export const OVERRIDE_HEADER = 'interstice-override';

/**
 * Adds the time budget of the headers to the request, for callers that send a file as the body. A body that repeats the
 * same values is accepted; different values are refused.
 */
export function withBudgetHeaders<T extends Budget>(request: FastifyRequest, body: T): T {
  const timeBudgetSeconds = readMilliseconds(request.headers[BUDGET_HEADER]);
  const onBudget = readOnBudget(request.headers[ON_BUDGET_HEADER]);
  refuseConflict(BUDGET_HEADER, nanoseconds(timeBudgetSeconds), nanoseconds(body.timeBudgetSeconds));
  refuseConflict(ON_BUDGET_HEADER, onBudget, body.onBudget);
  return {
    ...body,
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget === undefined ? {} : { onBudget }),
  };
}

/** Refuses the headers for operations that do not read them. */
export function refuseBudgetHeaders(request: FastifyRequest): void {
  refuseHeader(request, BUDGET_HEADER);
  refuseOnBudgetHeader(request);
}

/** Refuses the header for operations that have nothing to return when their time budget ends. */
export function refuseOnBudgetHeader(request: FastifyRequest): void {
  refuseHeader(request, ON_BUDGET_HEADER);
}

/** Refuses a header that has no effect on this operation. @throws INVALID_PARAMETER */
export function refuseHeader(request: FastifyRequest, name: string): void {
  if (request.headers[name] === undefined) return;
  throw new IntersticeError('INVALID_PARAMETER', `This operation does not support the header ${name}.`, {
    hint: 'Send the request without it.',
  });
}

function readMilliseconds(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const milliseconds = typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) : Number.NaN;
  if (!(milliseconds > 0 && Number.isFinite(milliseconds))) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The header ${BUDGET_HEADER} is ${quote(String(header))}, expected a number > 0.`,
    );
  }
  return milliseconds / 1000;
}

function readOnBudget(header: string | string[] | undefined): OnBudget | undefined {
  if (header === undefined || header === 'RETURN_SAFE' || header === 'FAIL') return header;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The header ${ON_BUDGET_HEADER} is ${quote(String(header))}, expected RETURN_SAFE or FAIL.`,
  );
}

/** The resolution of a duration: milliseconds and seconds with a fraction are different numbers of the same time. */
const nanoseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.round(seconds * 1e9);

function refuseConflict(name: string, header: unknown, body: unknown): void {
  if (header === undefined || body === undefined || header === body) return;
  throw new IntersticeError('INVALID_PARAMETER', `The header ${name} and the body set different values.`, {
    hint: 'Set only one of them.',
  });
}
