import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../paths.js';
import { enumShape, type FieldShape, type MessageShape, messageShape } from '../messages/schema.js';

/**
 * Examples of the API reference. Requests are those of examples/requests, which a service accepts unchanged. Answers
 * are generated from the contract: they show the format, and their numbers have no meaning.
 */

/** A request of examples/requests; undefined if the examples are not installed. */
function request(name: string): object | undefined {
  const path = join(projectRoot, 'examples', 'requests', `${name}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : undefined;
}

const SESSION_ID = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

/** Messages that callers write, except those of examples/requests, and the error. */
const WRITTEN: Readonly<Record<string, object>> = {
  Parameters: { preset: 'TUNED', stepLimit: 200 },
  Options: {},
  UpdateSessionRequest: { label: 'second attempt' },
  // Either a resolve or a step.
  get SubmitJobRequest() {
    return { resolve: exampleOf('ResolveRequest'), label: 'cloth', keepFor: '3600s' };
  },
  Error: {
    code: 'UNKNOWN_FIELD',
    message: 'mesh.vertexcount is not a field of Mesh.',
    hint: 'Did you mean vertexCount? Names are case-sensitive.',
    retryable: false,
    requestId: '7f3a2c1e',
  },
};

const JOB_ID = '9a8b7c6d5e4f30211203f4e5d6c7b8a9';

const FILES: Readonly<Record<string, string>> = {
  ResolveRequest: 'resolve',
  CheckRequest: 'check',
  DiagnoseRequest: 'diagnose',
  UntangleRequest: 'untangle',
  CreateSessionRequest: 'session',
  StepRequest: 'step',
};

/** Texts by field name, or by message and field if the field name is not specific enough. */
const TEXTS: Readonly<Record<string, string>> = {
  id: SESSION_ID,
  sessionId: SESSION_ID,
  jobId: JOB_ID,
  'Job.id': JOB_ID,
  label: 'cloth',
  part: 'upper',
  idempotencyKey: '6f9c1d3e',
  pageToken: '',
  nextPageToken: '',
  contentHash: 'c0ffee',
  engine: 'cpu',
  pushingEngine: 'cpu',
  adapter: 'AMD EPYC',
  version: '9',
  algorithmVersion: '34',
  features: 'grpc',
  kinematicParts: 'body.obj',
  code: 'UNUSED_VERTICES',
  message: '2 vertices belong to no element.',
  kind: 'triangle',
  name: 'upper',
  unit: 'length',
  advice: 'Make them particles if they should collide.',
  names: 'upper',
  inner: 'lower',
  outer: 'upper',
  'EngineInfo.name': 'cpu',
  'Element.kind': 'triangle',
  'ServerInfo.version': '0.1.0',
};

/** An error as a problem document. */
export function exampleProblem(): object {
  const error = exampleOf('Error') as { readonly code: string; readonly message: string };
  return {
    type: `urn:interstice:error:${error.code}`,
    title: 'Unknown field',
    status: 400,
    detail: error.message,
    instance: '/v1/resolve',
    ...error,
  };
}

/** An example of a message of the contract, in the JSON mapping. */
export function exampleOf(name: string): object {
  const file = FILES[name];
  return (file === undefined ? WRITTEN[name] : request(file)) ?? answerOf(messageShape(name));
}

/** Every field with a value, one of each oneof, lists with one item. */
function answerOf(shape: MessageShape): object {
  const chosen = new Set<string>();
  const members: [string, unknown][] = [];
  for (const field of shape.fields) {
    if (field.oneof !== undefined) {
      if (chosen.has(field.oneof)) continue;
      chosen.add(field.oneof);
    }
    const value = exampleValue(shape, field);
    members.push([field.jsonName, field.isRepeated ? [value] : value]);
  }
  return Object.fromEntries(members);
}

function exampleValue(shape: MessageShape, field: FieldShape): unknown {
  const { kind, jsonName } = field;
  switch (kind.of) {
    case 'message':
      return exampleOf(kind.type);
    case 'enum':
      // The first value is the unspecified one.
      return [...enumShape(kind.type).byName.keys()][1];
    case 'duration':
      return '1.5s';
    case 'timestamp':
      return '2026-11-30T12:00:00Z';
    case 'bulk':
      return [0, 1, 2];
    case 'scalar':
      if (kind.type === 'bool') return true;
      if (kind.type === 'string') return textOf(`${shape.name}.${jsonName}`, jsonName);
      return kind.type.endsWith('64') ? '1' : kind.type === 'double' || kind.type === 'float' ? 0.5 : 1;
  }
}

function textOf(path: string, name: string): string {
  const text = TEXTS[path] ?? TEXTS[name];
  if (text === undefined) throw new Error(`The API reference has no example for ${path}; add one to TEXTS.`);
  return text;
}
