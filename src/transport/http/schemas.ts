import { ERRORS, type ErrorCode } from '../../errors.js';
import type { Schema } from '../json/json-schema.js';
import { MESH_TYPES } from './content-types.js';

/** What the OpenAPI document says about each path. Bodies are checked by the decoder, not by these. */

const ref = (name: string): Schema => ({ $ref: `${name}#` });
const json = (name: string): Schema => ({ 'application/json': { schema: ref(name) } });
const file: Schema = { type: 'string', contentMediaType: 'application/octet-stream' };

/** Codes that a path of this build cannot answer with. */
const NOT_HERE: ReadonlySet<ErrorCode> = new Set([
  'SESSION_NOT_FOUND',
  'FRAME_OUT_OF_ORDER',
  'FRAME_CONFLICT',
  'UNAUTHENTICATED',
  'QUOTA_EXCEEDED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

/** The error table by status, as responses. */
function refusals(): Schema {
  const byStatus = new Map<number, string[]>();
  for (const [code, kind] of Object.entries(ERRORS)) {
    if (NOT_HERE.has(code as ErrorCode)) continue;
    byStatus.set(kind.http, [...(byStatus.get(kind.http) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.join(', '), content: { 'application/problem+json': { schema: ref('Problem') } } },
    ]),
  );
}

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

const budgetHeaders: Schema = {
  type: 'object',
  properties: {
    'interstice-time-budget-ms': { type: 'number', description: 'Time budget in milliseconds, counted from receipt.' },
    'interstice-on-budget': { type: 'string', enum: ['RETURN_SAFE', 'FAIL'] },
  },
};

const answerHeaders: Schema = {
  'interstice-version': { type: 'string', description: 'Version of the service.' },
  'server-timing': { type: 'string', description: 'Milliseconds spent in each stage.' },
};

export function resolveSchema(): Schema {
  const files = Object.fromEntries(Object.values(MESH_TYPES).map(([type]) => [type, { schema: file }]));
  return {
    operationId: 'resolve',
    summary: 'Resolve one pair of start and target; no state is kept.',
    description:
      'JSON, or a form with one or more `start` files and as many `target` files (OBJ or PLY, concatenated in order) and `options`. A form is answered with a file of the kind of its first start and the report in the header `interstice-report`, or with JSON where only that is accepted.',
    headers: budgetHeaders,
    body: {
      content: {
        'application/json': { schema: ref('ResolveRequest') },
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['start', 'target'],
            properties: {
              start: { type: 'array', items: file },
              target: { type: 'array', items: file },
              options: ref('Options'),
            },
          },
        },
      },
    },
    response: {
      200: {
        description: 'Safe positions and the report of how they came about.',
        headers: {
          ...answerHeaders,
          'interstice-report': { type: 'string', description: 'Report without its lists.' },
        },
        content: { ...json('ResolveResponse'), ...files },
      },
      ...refusals(),
    },
  };
}

export function checkSchema(): Schema {
  return {
    operationId: 'check',
    summary: 'Does this state, or this straight path, intersect?',
    description:
      'JSON, or a form with one or more `mesh` files (`start` means the same), optionally as many `pathEnd` files (`target` means the same), and `options`.',
    body: {
      content: {
        'application/json': { schema: ref('CheckRequest') },
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['mesh'],
            properties: {
              mesh: { type: 'array', items: file },
              pathEnd: { type: 'array', items: file },
              options: ref('Options'),
            },
          },
        },
      },
    },
    response: {
      200: { description: 'What was found.', headers: answerHeaders, content: json('CheckResponse') },
      ...refusals(),
    },
  };
}

export function infoSchema(): Schema {
  return {
    operationId: 'getServerInfo',
    summary: 'What can this server do?',
    response: { 200: { description: 'Version, engines, limits, defaults, features.', content: json('ServerInfo') } },
  };
}

export function healthSchema(summary: string): Schema {
  const state: Schema = {
    type: 'object',
    properties: { status: { type: 'string' }, reason: { type: 'string' } },
  };
  return { summary, response: { 200: state, 503: state } };
}
