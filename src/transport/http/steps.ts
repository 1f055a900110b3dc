import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { StepAnswer, StepRequest } from '../../contract/sessions.js';
import { fromStepAnswer } from '../answers.js';
import { toStepRequest } from '../messages.js';
import { withBudgetHeaders } from './budget.js';
import { contextOf } from './caller.js';
import { STEP_TYPES, type StepType } from './content-types.js';
import { chooseType, ownTypeFirst, refuseQuery, takeType } from './media.js';
import { readMessage, sendReported } from './message-body.js';
import type { DoorOptions } from './options.js';
import { preflightFor } from './preflight.js';
import { OVERRIDE_HEADER, readRawStep, sendRawStep } from './raw-step.js';
import { stepSchema } from './session-schemas.js';

/** POST /v1/sessions/{id}/steps: a message, or bare positions on the fast path. */
export async function steps(app: FastifyInstance, { operations }: DoorOptions): Promise<void> {
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    const own = takeType(request, STEP_TYPES);
    typeOfAnswer(request);
    if (own === 'application/octet-stream') return;
    refuseQuery(request);
    refuseOverride(request);
  };
  app.post<{ Params: { id: string } }>(
    '/v1/sessions/:id/steps',
    {
      schema: stepSchema(),
      config: { message: 'StepRequest' },
      onRequest: [onRequest, preflightFor(operations, 'step')],
    },
    async (request, reply) => {
      const context = contextOf(request, reply);
      const type = typeOfAnswer(request);
      const { step, arrays } = readStep(request, request.params.id);
      if (type === 'application/octet-stream') refuseInclude(step);
      const answer = await operations.step(withBudgetHeaders(request, step), context);
      return sendStep(reply, answer, type, arrays, performance.now());
    },
  );
}

const typeOfAnswer = (request: FastifyRequest): StepType =>
  chooseType(request, ownTypeFirst(takeType(request, STEP_TYPES), STEP_TYPES));

function readStep(request: FastifyRequest, sessionId: string): { step: StepRequest; arrays: boolean } {
  if (takeType(request, STEP_TYPES) === 'application/octet-stream') {
    return { step: readRawStep(request, sessionId), arrays: false };
  }
  const { message, arrays } = readMessage(request);
  return { step: toStepRequest(message, { sessionId }), arrays };
}

function sendStep(reply: FastifyReply, answer: StepAnswer, type: StepType, arrays: boolean, answered: number) {
  return type === 'application/octet-stream'
    ? sendRawStep(reply, answer, answered)
    : sendReported(reply, 'StepResponse', fromStepAnswer(answer), answer, { type, arrays, answered });
}

function refuseInclude({ include }: StepRequest): void {
  if (!include?.contacts && !include?.vertices) return;
  throw new IntersticeError('INVALID_PARAMETER', 'include asks for more than bare positions can carry.', {
    hint: 'Accept application/json or application/x-protobuf, or leave include unset.',
  });
}

function refuseOverride(request: FastifyRequest): void {
  if (request.headers[OVERRIDE_HEADER] === undefined) return;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The header ${OVERRIDE_HEADER} goes with a body of type application/octet-stream.`,
    { hint: 'Set override in the message.' },
  );
}
