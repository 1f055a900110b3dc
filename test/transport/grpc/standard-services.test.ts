import { once } from 'node:events';
import { createRequire } from 'node:module';
import {
  type Client,
  loadPackageDefinition,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { service as healthService } from 'grpc-health-check';
import protobuf from 'protobufjs';
import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { SERVICE, SERVICE_DEFINITION } from '../../../src/transport/grpc/service.js';
import { messageShape } from '../../../src/transport/messages/schema.js';
import { callRaw, detailsOf, openGrpc } from './door.js';

const channel = (client: Client) => ({ channelOverride: client.getChannel() });

// biome-ignore lint/suspicious/noExplicitAny: generated clients have no types here
type AnyClient = any;

function healthOf(client: Client): AnyClient {
  const Health = makeGenericClientConstructor(healthService, 'Health');
  return new Health('', null as never, channel(client) as never);
}

const check = (health: AnyClient, service: string) =>
  new Promise((resolve) =>
    health.check({ service }, (error: { code: number } | null, answer: { status: string } | undefined) =>
      resolve(error ? error.code : answer?.status),
    ),
  );

t.test('health follows the state of the service', async (t) => {
  const { client, state } = await openGrpc(t);
  const health = healthOf(client);
  for (const service of ['', SERVICE]) t.equal(await check(health, service), 'SERVING', `"${service}"`);
  t.equal(await check(health, 'nobody'), status.NOT_FOUND);
  const watch = health.watch({ service: SERVICE });
  t.match(await once(watch, 'data'), [{ status: 'SERVING' }]);
  const next = once(watch, 'data');
  state.move('failed', 'The engine did not start.');
  t.match(await next, [{ status: 'NOT_SERVING' }]);
  state.move('ready', 'It did after all.');
  t.equal(await check(health, ''), 'SERVING');
  state.move('draining', 'This server is shutting down.');
  t.equal(await check(health, ''), 'NOT_SERVING');
  watch.on('error', () => {});
  watch.cancel();
});

t.test('health and reflection need no key, count as no work and do not hold the end', async (t) => {
  const { client, state, server, lines } = await openGrpc(t, {
    authenticate: () => {
      throw new IntersticeError('UNAUTHENTICATED', 'There is no such key.');
    },
  });
  t.equal((await callRaw(client, 'GetServerInfo', new Uint8Array())).error?.code, status.UNAUTHENTICATED);
  const health = healthOf(client);
  t.equal(await check(health, ''), 'SERVING');
  const watch = health.watch({ service: '' });
  await once(watch, 'data');
  t.equal(state.inFlight, 0);
  const ended = once(watch, 'error');
  await server.close(60_000);
  t.match(await ended, [{ code: status.UNAVAILABLE }]);
  t.equal(lines.length, 1, 'only the refused call is in the log');
});

t.test('bytes that are no message of health or reflection are refused as the fault of the caller', async (t) => {
  const { client } = await openGrpc(t);
  // The tag of a field of a wire type that does not exist.
  const bytes = Buffer.from([0x0f]);
  const refusalOf = (path: string) =>
    new Promise<ServiceError>((resolve) => {
      const asIs = (message: Buffer) => message;
      const call = client.makeBidiStreamRequest(path, asIs, asIs);
      call.on('error', resolve).on('data', () => {});
      call.end(bytes);
    });
  for (const path of ['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo']) {
    const error = await refusalOf(path);
    t.equal(error.code, status.INVALID_ARGUMENT, path);
    t.match(detailsOf(error).error, { code: 'MALFORMED_BODY' });
  }
});

t.test('a server that is not ready yet is not serving', async (t) => {
  const { client, state } = await openGrpc(t);
  state.move('starting', 'The service is starting.');
  t.equal(await check(healthOf(client), ''), 'NOT_SERVING');
});

/** Asks reflection one question. */
async function reflect(t: Parameters<typeof openGrpc>[0], version: 'v1' | 'v1alpha') {
  const { client } = await openGrpc(t);
  const path = createRequire(import.meta.url).resolve(
    `@grpc/reflection/build/proto/grpc/reflection/${version}/reflection.proto`,
  );
  const root: AnyClient = loadPackageDefinition(loadSync(path, { defaults: false, oneofs: true }));
  const Reflection = root.grpc.reflection[version].ServerReflection;
  const reflection = new Reflection('', null, channel(client));
  return async (question: object): Promise<AnyClient> => {
    const stream = reflection.ServerReflectionInfo();
    stream.write(question);
    stream.end();
    const [answer] = await once(stream, 'data');
    return answer;
  };
}

for (const version of ['v1', 'v1alpha'] as const) {
  t.test(`reflection ${version} lists the services and describes ours with all it needs`, async (t) => {
    const ask = await reflect(t, version);
    const { listServicesResponse } = await ask({ listServices: '*' });
    const names = listServicesResponse.service.map(({ name }: { name: string }) => name);
    t.ok(names.includes(SERVICE) && names.includes('grpc.health.v1.Health'), names.join(' '));
    const { fileDescriptorResponse } = await ask({ fileContainingSymbol: SERVICE });
    const files = fileDescriptorResponse.fileDescriptorProto.map(readFile);
    const ours = files.find((file: FileProto) => file.package === 'interstice.v1');
    t.same(
      new Set(ours.service[0].method.map(({ name }: { name: string }) => name)),
      new Set(Object.keys(SERVICE_DEFINITION)),
      'its methods',
    );
    const described = files.flatMap((file: FileProto) => file.messageType.map(({ name }) => name));
    for (const name of ['StepRequest', 'Report', 'Error', 'Duration', 'Timestamp']) {
      t.ok(described.includes(name), name);
    }
    const stepRequest = ours.messageType.find(({ name }: { name: string }) => name === 'StepRequest');
    t.same(
      stepRequest.field.map(({ name, number }: { name: string; number: number }) => [name, number]),
      messageShape('StepRequest').fields.map(({ name, number }) => [name, number]),
      'fields and their numbers',
    );
  });
}

interface FileProto {
  readonly package: string;
  readonly messageType: readonly { readonly name: string }[];
}

/** As much of descriptor.proto as the test reads. */
const DESCRIPTOR = protobuf.parse(`
  syntax = "proto2";
  message File { optional string name = 1; optional string package = 2; repeated Message message_type = 4; repeated Service service = 6; }
  message Message { optional string name = 1; repeated Field field = 2; }
  message Field { optional string name = 1; optional int32 number = 3; }
  message Service { optional string name = 1; repeated Method method = 2; }
  message Method { optional string name = 1; }
`).root;

function readFile(bytes: Uint8Array): AnyClient {
  const type = DESCRIPTOR.lookupType('File');
  return type.toObject(type.decode(bytes), { arrays: true });
}
