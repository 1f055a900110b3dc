import { ERRORS, type ErrorCode } from '../../contract/errors.js';
import { OPERATIONS, type OperationRow } from '../../contract/operation-table.js';
import type { OperationName } from '../../contract/operations.js';
import type { Schema } from './json-schema.js';
import { MESH_TYPES, STREAM_TYPES } from './media-types.js';

/**
 * The description of each route in the OpenAPI document. The decoders check bodies; these schemas are documentation
 * only.
 */

/** Chapters of the API reference, in reading order. */
export const TAGS = [
  { name: 'resolve', description: 'One request, one answer; no state is kept.' },
  {
    name: 'sessions',
    description: 'The server keeps the mesh and its proximity set, and a step sends only its target.',
  },
  {
    name: 'jobs',
    description:
      'Resolves, steps and untanglings that take minutes: submit, watch, fetch and delete them, over any connection.',
  },
  { name: 'server', description: 'What this server is, and whether it accepts requests.' },
] as const;

type Tag = (typeof TAGS)[number]['name'];

/** Facts about an operation that the operation table does not contain. */
interface Documentation {
  readonly tag: Tag;
  /** Description of the answer. */
  readonly answer: string;
  readonly description?: string;
  /** Request headers, path parameters, query and further media types of the body. */
  readonly headers?: Schema;
  readonly params?: Schema;
  readonly querystring?: Schema;
  readonly bodyContent?: Schema;
  readonly answerContent?: Schema;
  readonly answerHeaders?: Schema;
  /** Errors of sessions and frames that the route can answer with. */
  readonly errors?: readonly ErrorCode[];
}

const object = (properties: Schema, required?: readonly string[]): Schema => ({
  type: 'object',
  ...(required ? { required } : {}),
  properties,
});

const ref = (name: string): Schema => ({ $ref: `${name}#` });

/** A file, or raw bytes. */
const binary: Schema = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };

const form = (properties: Schema, required: readonly string[]): Schema => ({
  'multipart/form-data': { schema: object({ ...properties, options: ref('Options') }, required) },
});

const files: Schema = { type: 'array', items: binary };

const timeBudgetHeader: Schema = {
  'interstice-time-budget-ms': { type: 'number', description: 'Time budget in milliseconds, counted from receipt.' },
};

const budgetHeaders: Schema = {
  ...timeBudgetHeader,
  'interstice-on-budget': { type: 'string', enum: ['RETURN_SAFE', 'FAIL'] },
};

/** On every answer. */
const versionHeader: Schema = {
  'interstice-version': { type: 'string', description: 'Version of the service.' },
};

/** On answers that were computed. */
const timingHeader: Schema = {
  'server-timing': { type: 'string', description: 'Milliseconds spent in each stage.' },
};

const reportHeaders: Schema = {
  'interstice-report': { type: 'string', description: 'Report without its lists, as one line of JSON.' },
};

/** Errors of a step of a session, however it was requested. */
const STEP_CODES = ['SESSION_NOT_FOUND', 'FRAME_OUT_OF_ORDER', 'FRAME_CONFLICT', 'FRAME_LOST'] as const;

/** Accepted by all routes of sessions and not read by the service. */
const routingHeader: Schema = {
  'x-session-id': {
    type: 'string',
    description: 'A routing key of your own that a proxy may hash on; the service does not read it.',
  },
};

const ofSessions = { tag: 'sessions', headers: object(routingHeader) } as const;

const ofSession = {
  ...ofSessions,
  params: object({ id: { type: 'string', description: 'Id of the session, from the answer of its creation.' } }, [
    'id',
  ]),
  errors: ['SESSION_NOT_FOUND'],
} as const;

const ofJob = {
  tag: 'jobs',
  params: object({ id: { type: 'string', description: 'Id of the job, from the answer of its submission.' } }, ['id']),
  errors: ['JOB_NOT_FOUND'],
} as const;

const waitQuery = object({
  wait: {
    type: 'string',
    pattern: '^\\d+(\\.\\d+)?s$',
    description: 'Longest time to wait for the end of the job, 0s to 60s.',
  },
});

const pageQuery = (items: string) =>
  object({
    pageSize: {
      type: 'integer',
      minimum: 0,
      description: `${items} on a page; unset or 0: default of the server.`,
    },
    pageToken: { type: 'string', description: '`nextPageToken` of the page before; unset: the first page.' },
    label: { type: 'string', description: `Only ${items.toLowerCase()} with this label.` },
  });

const DOCUMENTATION: Readonly<Record<OperationName, Documentation>> = {
  resolve: {
    tag: 'resolve',
    answer: 'Safe positions and the report.',
    description:
      'A message, or a form with one or more `start` files and as many `target` files (OBJ or PLY, concatenated in order) and `options`. A form is answered with a file in the format of its first start and the report in the header `interstice-report`, or with a message if only that is accepted.',
    headers: object(budgetHeaders),
    bodyContent: form({ start: files, target: files }, ['start', 'target']),
    answerContent: Object.fromEntries(Object.values(MESH_TYPES).map(([type]) => [type, { schema: binary }])),
    answerHeaders: {
      ...timingHeader,
      ...reportHeaders,
      'interstice-dropped': {
        type: 'string',
        description: 'What the start files hold besides the mesh and a file as answer does not.',
      },
    },
  },
  check: {
    tag: 'resolve',
    answer: 'The intersections and close pairs that were found.',
    description:
      'A message about a mesh or about a session, or a form with one or more `mesh` files (`start` means the same), optionally as many `pathEnd` files (`target` means the same), and `options`.',
    headers: object(timeBudgetHeader),
    bodyContent: form({ mesh: files, pathEnd: files }, ['mesh']),
    answerHeaders: timingHeader,
    errors: ['SESSION_NOT_FOUND'],
  },
  diagnose: {
    tag: 'resolve',
    answer: 'Findings in plain words, regions of intersections, components, layers and lengths that fit.',
    description: 'A message. The mesh and its positions may be such that every other operation refuses them.',
    headers: object(timeBudgetHeader),
  },
  untangle: {
    tag: 'resolve',
    answer: 'The state that was reached, free of intersections where the status says so, and the report.',
    description:
      'A message. The positions may intersect. A budget, or the end of the service, ends it with the best state so far.',
    headers: object(timeBudgetHeader),
  },
  createSession: {
    ...ofSessions,
    answer: 'The session.',
    answerHeaders: { location: { type: 'string', description: 'Path of the session.' } },
  },
  listSessions: {
    ...ofSessions,
    answer: 'One page.',
    querystring: pageQuery('Sessions'),
  },
  getSession: { ...ofSession, answer: 'The session.' },
  updateSession: { ...ofSession, answer: 'The session.' },
  deleteSession: {
    ...ofSession,
    answer: 'The session is deleted.',
    description:
      'For a session whose id you never learned, `id` is `key:` and the `idempotencyKey` of its creation, which is given up if it still runs.',
  },
  step: {
    ...ofSession,
    answer: 'Safe positions and the report; with bare positions, the report is in the header.',
    description:
      'A message, or bare little-endian positions. With bare positions `scalar` and `frame` are in the query and the parameters of this step are in `interstice-override`; an empty body continues towards the last target.',
    querystring: object({
      scalar: {
        type: 'string',
        enum: ['float32', 'float64'],
        description:
          'Of bare positions, the target and the answer; default float32. With an empty body the default is the scalar of the last target, and one that would round it is refused.',
      },
      frame: { type: 'string', pattern: '^\\d+$', description: 'With bare positions: number of the step.' },
      after_frame: {
        type: 'string',
        pattern: '^\\d+$',
        description: 'With bare positions: the frame that the step goes on from.',
      },
    }),
    headers: object({
      ...routingHeader,
      ...budgetHeaders,
      'interstice-override': { type: 'string', description: 'With bare positions: Parameters as JSON.' },
    }),
    bodyContent: { 'application/octet-stream': { schema: binary } },
    answerContent: { 'application/octet-stream': { schema: binary } },
    answerHeaders: {
      ...timingHeader,
      ...reportHeaders,
      'interstice-frame': { type: 'string', description: 'Frame that was accepted; with bare positions only.' },
      'interstice-scalar': {
        type: 'string',
        enum: ['float32', 'float64'],
        description: 'Scalar of the answer; with bare positions only.',
      },
    },
    errors: STEP_CODES,
  },
  submitJob: {
    tag: 'jobs',
    answer: 'The job, which waits or runs.',
    answerHeaders: { location: { type: 'string', description: 'Path of the job.' } },
    errors: STEP_CODES,
  },
  getJob: { ...ofJob, answer: 'The job.', querystring: waitQuery },
  watchJob: { ...ofJob, answer: 'The job as it is, at every change, and at its end.' },
  listJobs: { tag: 'jobs', answer: 'One page.', querystring: pageQuery('Jobs') },
  getJobResult: {
    ...ofJob,
    answer: 'What the resolve, the step or the untangling would have answered; bulk fields are in base64.',
    querystring: waitQuery,
    answerHeaders: timingHeader,
    errors: ['JOB_NOT_FOUND', 'JOB_NOT_ENDED', ...STEP_CODES],
  },
  deleteJob: { ...ofJob, answer: 'The job is stopped and forgotten.' },
  info: { tag: 'server', answer: 'Version, engines, limits, defaults and features.' },
};

/** A message of the contract in both of its encodings. */
const messageContent = (name: string): Schema => ({
  'application/json': { schema: ref(name) },
  'application/x-protobuf': {
    schema: { ...binary, contentMediaType: 'application/x-protobuf', description: `interstice.v1.${name}` },
  },
});

/** A stream of messages. */
const streamContent = (name: string): Schema =>
  Object.fromEntries(
    STREAM_TYPES.map((type) => [
      type,
      {
        schema: {
          type: 'string',
          description: `Messages of the type interstice.v1.${name}, the answer or the error last.`,
        },
      },
    ]),
  );

export function operationSchema(name: OperationName): Schema {
  const row: OperationRow = OPERATIONS[name];
  const { tag, answer, bodyContent, answerContent, answerHeaders, errors, ...request } = DOCUMENTATION[name];
  const hasBody = row.httpMethod === 'POST' || row.httpMethod === 'PATCH';
  return {
    operationId: row.grpcMethod.charAt(0).toLowerCase() + row.grpcMethod.slice(1),
    tags: [tag],
    summary: row.summary,
    ...request,
    ...(hasBody ? { body: { content: { ...messageContent(row.request), ...bodyContent } } } : {}),
    response: {
      [row.httpStatus]: {
        description: answer,
        headers: { ...versionHeader, ...answerHeaders },
        // The generator of the document takes a response without a schema for "null", which means no body.
        ...(row.httpStatus === 204 ? { type: 'null' } : { content: contentOf(row, answerContent) }),
      },
      ...(name === 'info' ? {} : errorResponses(errors)),
    },
  };
}

function contentOf({ response, stream }: OperationRow, further: Schema | undefined): Schema {
  const streamed = stream ? streamContent(stream.response) : {};
  return stream?.response === response ? streamed : { ...messageContent(response), ...further, ...streamed };
}

/** The last report of a session. */
export function reportSchema(): Schema {
  const { params, headers } = ofSession;
  return {
    operationId: 'getReport',
    tags: [ofSession.tag],
    summary: 'Get the report of the last step.',
    params,
    headers,
    response: {
      200: { description: 'The report.', headers: versionHeader, content: messageContent('Report') },
      ...errorResponses(['SESSION_NOT_FOUND', 'NOT_FOUND']),
    },
  };
}

export function healthSchema(summary: string): Schema {
  const state = {
    ...object({ status: { type: 'string' }, reason: { type: 'string' } }),
    examples: [{ status: 'ready', reason: 'The service takes requests.' }],
  };
  const tag: Tag = 'server';
  return { tags: [tag], summary, response: { 200: state, 503: state } };
}

/** Errors that only some routes can answer with. */
const RARE_CODES: readonly ErrorCode[] = [...STEP_CODES, 'NOT_FOUND', 'JOB_NOT_FOUND', 'JOB_NOT_ENDED'];

/** Errors of paths and methods that are not in the document. */
const EXCLUDED_CODES: readonly ErrorCode[] = ['METHOD_NOT_ALLOWED'];

/** The error table by status, as responses. @param rare codes of {@link RARE_CODES} that the route can answer with */
function errorResponses(rare: readonly ErrorCode[] = []): Schema {
  const byStatus = new Map<number, string[]>();
  for (const [code, kind] of Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][]) {
    if (EXCLUDED_CODES.includes(code)) continue;
    if (RARE_CODES.includes(code) && !rare.includes(code)) continue;
    byStatus.set(kind.http, [...(byStatus.get(kind.http) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.join(', '), content: { 'application/problem+json': { schema: ref('Problem') } } },
    ]),
  );
}
