import type { FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { OnBudget } from '../../contract/requests.js';

interface Budget {
  readonly timeBudgetSeconds?: number;
  readonly onBudget?: OnBudget;
}

const MS = 'interstice-time-budget-ms';
const ON = 'interstice-on-budget';

/**
 * The time budget that headers ask for, for callers whose body is a file. A body that says the same thing is fine,
 * one that says another is refused: neither is guessed to be the one that was meant.
 */
export function withBudgetHeaders<T extends Budget>(request: FastifyRequest, body: T): T {
  const timeBudgetSeconds = readMilliseconds(request.headers[MS]);
  const onBudget = readOnBudget(request.headers[ON]);
  refuseConflict(MS, timeBudgetSeconds, body.timeBudgetSeconds);
  refuseConflict(ON, onBudget, body.onBudget);
  return {
    ...body,
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget === undefined ? {} : { onBudget }),
  };
}

/** For operations without a budget: the headers would change nothing, so they are refused. */
export function refuseBudgetHeaders(request: FastifyRequest): void {
  for (const name of [MS, ON]) {
    if (request.headers[name] === undefined) continue;
    throw new IntersticeError('INVALID_PARAMETER', `The header ${name} means nothing to this operation.`);
  }
}

function readMilliseconds(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const milliseconds = typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) : Number.NaN;
  if (!(milliseconds > 0 && Number.isFinite(milliseconds))) {
    throw new IntersticeError(
      'INVALID_PARAMETER',
      `The header ${MS} is ${JSON.stringify(header)}, expected a number > 0.`,
    );
  }
  return milliseconds / 1000;
}

function readOnBudget(header: string | string[] | undefined): OnBudget | undefined {
  if (header === undefined || header === 'RETURN_SAFE' || header === 'FAIL') return header;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The header ${ON} is ${JSON.stringify(header)}, expected RETURN_SAFE or FAIL.`,
  );
}

function refuseConflict(name: string, header: unknown, body: unknown): void {
  if (header === undefined || body === undefined || header === body) return;
  throw new IntersticeError('INVALID_PARAMETER', `The header ${name} and the body ask for different things.`, {
    hint: 'Set one of them.',
  });
}
