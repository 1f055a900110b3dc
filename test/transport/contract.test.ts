import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import t from 'tap';
import { MAX_JOB_KEEP_SECONDS } from '../../src/contract/long-jobs.js';
import { OPERATION_NAMES, OPERATIONS, type OperationRow } from '../../src/contract/operation-table.js';
import { MAX_IDLE_TIMEOUT_SECONDS, MAX_NAME_CHARACTERS } from '../../src/contract/sessions.js';
import { projectRoot } from '../../src/paths.js';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../src/session/pages.js';
import { STREAM_METHOD } from '../../src/transport/grpc/service.js';

/**
 * v1 only adds: whatever was published keeps its name, number, type and presence. The published contract lies in
 * recorded/contract-v1.json; `UPDATE_CONTRACT=1 node FILE` adds what is new at a release, and never takes anything away.
 */

/** Message → field name → "number: type"; enum → name → number; method → "request → answer". */
type Contract = Readonly<Record<string, Readonly<Record<string, string>>>>;

const PROTO = join(projectRoot, 'proto', 'interstice', 'v1', 'collision.proto');
const RECORDED = join(projectRoot, 'test', 'transport', 'recorded', 'contract-v1.json');

function describe(source: string): Contract {
  const { root } = protobuf.parse(source, new protobuf.Root(), { keepCase: true });
  const contract = root.lookup('interstice.v1') as protobuf.Namespace;
  return Object.fromEntries(contract.nestedArray.map((entry) => [entry.name, membersOf(entry)]));
}

function membersOf(entry: protobuf.ReflectionObject): Record<string, string> {
  if (entry instanceof protobuf.Enum) {
    return Object.fromEntries(Object.entries(entry.values).map(([name, number]) => [name, String(number)]));
  }
  if (entry instanceof protobuf.Service) {
    const stream = (is: boolean | undefined) => (is ? 'stream ' : '');
    const line = (method: protobuf.Method) =>
      `${stream(method.requestStream)}${method.requestType} → ${stream(method.responseStream)}${method.responseType}`;
    return Object.fromEntries(entry.methodsArray.map((method) => [method.name, line(method)]));
  }
  const fields = (entry as protobuf.Type).fieldsArray.map((field) => {
    const oneof = field.partOf && !field.partOf.name.startsWith('_') ? `${field.partOf.name} ` : '';
    const label = field.repeated ? 'repeated ' : field.partOf?.name.startsWith('_') ? 'optional ' : oneof;
    return [field.name, `${field.id}: ${label}${field.type}`];
  });
  return Object.fromEntries(fields);
}

/** What of the published contract is not there any more, or reads otherwise. */
function breaches(published: Contract, now: Contract): string[] {
  return Object.entries(published).flatMap(([type, members]) =>
    Object.entries(now[type] ? members : { '': 'there', ...members })
      .filter(([name, meaning]) => now[type]?.[name] !== meaning)
      .map(([name, meaning]) => `${type}.${name} was "${meaning}", is "${now[type]?.[name] ?? 'gone'}"`),
  );
}

const source = readFileSync(PROTO, 'utf8');
const now = describe(source);
const published = JSON.parse(readFileSync(RECORDED, 'utf8')) as Contract;

t.test('the contract has only grown since its last release', async (t) => {
  t.ok(Object.keys(published).length >= 40, 'the published contract is there');
  t.same(breaches(published, now), []);
});

t.test('the contract tells the limits of names, lists and times that the service applies', async (t) => {
  const commentOf = (message: string, field: string): string => {
    const text = source.slice(source.indexOf(`message ${message} {`));
    return new RegExp(` ${field} = \\d+;.*`).exec(text)?.[0] ?? '';
  };
  const inWords = (count: number): string => count.toLocaleString('en');
  for (const message of ['CreateSessionRequest', 'SubmitJobRequest']) {
    for (const field of ['label', 'idempotency_key'])
      t.match(commentOf(message, field), `at most ${MAX_NAME_CHARACTERS} characters`, `${message}.${field}`);
  }
  t.match(commentOf('CreateSessionRequest', 'idle_timeout'), `at most ${inWords(MAX_IDLE_TIMEOUT_SECONDS)} s`);
  t.match(commentOf('SubmitJobRequest', 'keep_for'), `at most ${inWords(MAX_JOB_KEEP_SECONDS)} s`);
  const pages = `page_size: 1 to ${MAX_PAGE_SIZE}, unset = ${DEFAULT_PAGE_SIZE}.`;
  t.equal(source.split(pages).length, 3, 'of sessions and of jobs');
});

t.test('every kind of breach is found', async (t) => {
  const changes: [string, string][] = [
    ['uint32 vertex_count = 1;', 'uint32 vertex_count = 98;'],
    ['uint32 vertex_count = 1;', 'uint64 vertex_count = 1;'],
    ['uint32 vertex_count = 1;', 'optional uint32 vertex_count = 1;'],
    ['uint32 vertex_count = 1;', 'uint32 vertices = 1;'],
    ['TUNED = 1;', 'TUNED = 3;'],
    ['rpc Check(CheckRequest)', 'rpc Check(stream CheckRequest)'],
    ['message DeleteSessionResponse {}', ''],
  ];
  for (const [old, fresh] of changes) {
    const text = source.replace(old, fresh);
    t.not(text, source, old);
    t.not(breaches(published, describe(text)).length, 0, `${old} → ${fresh}`);
  }
  const grown = source.replace('uint32 vertex_count = 1;', 'uint32 vertex_count = 1; bytes colours = 99;');
  t.same(breaches(published, describe(grown)), [], 'a new field is none');
});

t.test('the operation table has every method of the service, with its messages', async (t) => {
  const methods = { ...now.CollisionService };
  delete methods[STREAM_METHOD];
  const rows = OPERATION_NAMES.flatMap((name) => {
    const { grpcMethod, request, response, stream }: OperationRow = OPERATIONS[name];
    const streamed = stream?.grpcMethod ? [[stream.grpcMethod, `${request} → stream ${stream.response}`]] : [];
    return [[grpcMethod, `${request} → ${response}`], ...streamed];
  });
  t.same(Object.fromEntries(rows), methods);
});

if (process.env.UPDATE_CONTRACT === '1') {
  const grown = Object.fromEntries(
    Object.keys({ ...published, ...now }).map((type) => [type, { ...now[type], ...published[type] }]),
  );
  writeFileSync(RECORDED, `${JSON.stringify(grown, null, 1)}\n`);
}
