import type { ErrorCode } from '../../contract/errors.js';
import type { Schema } from '../json/json-schema.js';
import {
  answerHeaders,
  binary,
  budgetHeaders,
  messageContent,
  refusals,
  reportHeaders,
  tagged,
  timedHeaders,
} from './schema-parts.js';

/** What the OpenAPI document says about the paths of sessions. */

const sessionId: Schema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: 'Id of the session, as its creation answered.' } },
};

/** Taken everywhere and read by nobody here. */
const routingHeader: Schema = {
  'x-session-id': {
    type: 'string',
    description: 'A routing key of your own that a proxy may hash on; the service does not read it.',
  },
};

interface Answer {
  readonly status?: number;
  readonly description: string;
  readonly message?: string;
  readonly isBareToo?: boolean;
  readonly headers?: Schema;
  readonly refusals?: readonly ErrorCode[];
}

function operation(operationId: string, summary: string, answer: Answer, request: Schema = {}): Schema {
  const { status = 200, description, message, headers, refusals: codes } = answer;
  const bare = answer.isBareToo ? { 'application/octet-stream': { schema: binary } } : {};
  const content = message === undefined ? {} : { content: { ...messageContent(message), ...bare } };
  return {
    operationId,
    ...tagged('sessions'),
    summary,
    headers: { type: 'object', properties: routingHeader },
    ...request,
    response: {
      // A response without a schema counts as "null" in the document's generator, which is what no body means.
      [status]: {
        description,
        headers: { ...answerHeaders, ...headers },
        ...content,
        ...(message ? {} : { type: 'null' }),
      },
      ...refusals(codes),
    },
  };
}

const NOT_FOUND: readonly ErrorCode[] = ['SESSION_NOT_FOUND'];

export function createSchema(): Schema {
  return operation(
    'createSession',
    'Open a session: a mesh and its state at frame 0.',
    {
      status: 201,
      description: 'The session.',
      message: 'Session',
      headers: { location: { type: 'string', description: 'Path of the session.' } },
    },
    { body: { content: messageContent('CreateSessionRequest') } },
  );
}

export function listSchema(): Schema {
  const properties = {
    pageSize: {
      type: 'integer',
      minimum: 0,
      description: 'Sessions on a page; unset or 0: as many as the server likes.',
    },
    pageToken: { type: 'string', description: '`nextPageToken` of the page before; unset: the first page.' },
    label: { type: 'string', description: 'Only sessions with this label.' },
  };
  return operation(
    'listSessions',
    'Your sessions, a page at a time.',
    { description: 'One page.', message: 'ListSessionsResponse' },
    { querystring: { type: 'object', properties } },
  );
}

export function getSchema(): Schema {
  return operation(
    'getSession',
    'One session, with its last report.',
    { description: 'The session.', message: 'Session', refusals: NOT_FOUND },
    { params: sessionId },
  );
}

export function reportSchema(): Schema {
  return operation(
    'getReport',
    'The report of the last step.',
    { description: 'The report.', message: 'Report', refusals: [...NOT_FOUND, 'NOT_FOUND'] },
    { params: sessionId },
  );
}

export function updateSchema(): Schema {
  return operation(
    'updateSession',
    'Change parameters, idle timeout or label; what is not set stays.',
    { description: 'The session.', message: 'Session', refusals: NOT_FOUND },
    { params: sessionId, body: { content: messageContent('UpdateSessionRequest') } },
  );
}

export function deleteSchema(): Schema {
  return operation(
    'deleteSession',
    'Close a session; a second call answers SESSION_NOT_FOUND.',
    { status: 204, description: 'The session is gone.', refusals: NOT_FOUND },
    { params: sessionId },
  );
}

export function stepSchema(): Schema {
  return operation(
    'step',
    'One step: where the mesh should go next.',
    {
      description: 'Safe positions and the report; as bare bytes, the report is in the header.',
      message: 'StepResponse',
      isBareToo: true,
      headers: {
        ...timedHeaders,
        ...reportHeaders,
        'interstice-frame': { type: 'string', description: 'Frame that was accepted; with bare bytes only.' },
      },
      refusals: ['SESSION_NOT_FOUND', 'FRAME_OUT_OF_ORDER', 'FRAME_CONFLICT'],
    },
    {
      description:
        'A message, or bare little-endian positions. With bare positions `scalar` and `frame` stand in the query and parameters of this one step in `interstice-override`; an empty body goes on towards the last target.',
      params: sessionId,
      querystring: {
        type: 'object',
        properties: {
          scalar: { type: 'string', enum: ['float32', 'float64'], description: 'Of bare positions; default float32.' },
          frame: { type: 'string', pattern: '^\\d+$', description: 'With bare positions.' },
        },
      },
      headers: {
        type: 'object',
        properties: {
          ...routingHeader,
          ...budgetHeaders,
          'interstice-override': { type: 'string', description: 'With bare positions: Parameters as JSON.' },
        },
      },
      body: { content: { ...messageContent('StepRequest'), 'application/octet-stream': { schema: binary } } },
    },
  );
}
