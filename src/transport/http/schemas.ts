import { ERRORS } from '../../contract/errors.js';
import type { Schema } from '../json/json-schema.js';
import { MESH_TYPES } from './content-types.js';
import {
  answerHeaders,
  binary,
  budgetHeaders,
  messageContent,
  ref,
  refusals,
  reportHeaders,
  tagged,
  timedHeaders,
} from './schema-parts.js';

/** What the OpenAPI document says about the paths without sessions, and about refusals. */

/** RFC 9457 members around the contract's `Error`. */
export function problemSchema(errorSchema: Schema): Schema {
  return {
    ...errorSchema,
    $id: 'Problem',
    description: 'RFC 9457 problem document with the fields of Error.',
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string' },
      ...(errorSchema.properties as Schema),
      code: { type: 'string', enum: Object.keys(ERRORS) },
    },
  };
}

export function resolveSchema(): Schema {
  const files = Object.fromEntries(Object.values(MESH_TYPES).map(([type]) => [type, { schema: binary }]));
  return {
    operationId: 'resolve',
    ...tagged('resolve'),
    summary: 'Resolve one pair of start and target; no state is kept.',
    description:
      'A message, or a form with one or more `start` files and as many `target` files (OBJ or PLY, concatenated in order) and `options`. A form is answered with a file of the kind of its first start and the report in the header `interstice-report`, or with a message where only that is accepted.',
    headers: { type: 'object', properties: budgetHeaders },
    body: {
      content: {
        ...messageContent('ResolveRequest'),
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['start', 'target'],
            properties: {
              start: { type: 'array', items: binary },
              target: { type: 'array', items: binary },
              options: ref('Options'),
            },
          },
        },
      },
    },
    response: {
      200: {
        description: 'Safe positions and the report of how they came about.',
        headers: { ...timedHeaders, ...reportHeaders },
        content: { ...messageContent('ResolveResponse'), ...files },
      },
      ...refusals(),
    },
  };
}

export function checkSchema(): Schema {
  return {
    operationId: 'check',
    ...tagged('resolve'),
    summary: 'Does this state, or this straight path, intersect?',
    description:
      'A message about a mesh or about a session, or a form with one or more `mesh` files (`start` means the same), optionally as many `pathEnd` files (`target` means the same), and `options`.',
    body: {
      content: {
        ...messageContent('CheckRequest'),
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['mesh'],
            properties: {
              mesh: { type: 'array', items: binary },
              pathEnd: { type: 'array', items: binary },
              options: ref('Options'),
            },
          },
        },
      },
    },
    response: {
      200: { description: 'What was found.', headers: timedHeaders, content: messageContent('CheckResponse') },
      ...refusals(['SESSION_NOT_FOUND']),
    },
  };
}

export function infoSchema(): Schema {
  return {
    operationId: 'getServerInfo',
    ...tagged('server'),
    summary: 'What can this server do?',
    response: {
      200: {
        description: 'Version, engines, limits, defaults, features.',
        headers: answerHeaders,
        content: messageContent('ServerInfo'),
      },
    },
  };
}

export function healthSchema(summary: string): Schema {
  const state: Schema = {
    type: 'object',
    properties: { status: { type: 'string' }, reason: { type: 'string' } },
  };
  return { ...tagged('server'), summary, response: { 200: state, 503: state } };
}
