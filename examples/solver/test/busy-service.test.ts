import {
  loadPackageDefinition,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { modelOf } from '../runner/play.js';
import { SCENES } from '../scenes/index.js';
import { startOf } from '../src/integrator.js';
import { Service } from '../src/service.js';
import { loadContract } from '../src/stub.js';

const model = modelOf(SCENES.get('cone')!('small'));
const { x } = startOf(model);

type Call = ServerUnaryCall<object, object>;
type Done = sendUnaryData<object>;

/** How a substitute for the service refuses the first targets. */
interface Refusals {
  readonly count: number;
  readonly code: string;
  readonly retryable: boolean;
}

/**
 * Replaces the service of one session. It refuses the first targets, and then grants all unchanged.
 * @param lost number of creations whose answers are lost in transit
 */
async function openBusyService(t: Test, { count, code, retryable }: Refusals, lost = 0) {
  const seen = {
    targets: 0,
    frames: new Set<number>(),
    keys: new Set<string>(),
    steps: [] as [number, number][],
    creations: [] as string[],
  };
  const noteKey = ({ metadata }: { metadata: Metadata }): void =>
    void seen.keys.add(String(metadata.get('authorization')[0]));
  const busy = new Server();
  const { interstice } = loadPackageDefinition(loadContract()) as unknown as {
    interstice: { v1: { CollisionService: { service: ServiceDefinition } } };
  };
  busy.addService(interstice.v1.CollisionService.service, {
    CreateSession: (call: ServerUnaryCall<{ idempotencyKey: string }, object>, done: Done) => {
      noteKey(call);
      seen.creations.push(call.request.idempotencyKey);
      if (seen.creations.length <= lost) done({ code: status.UNAVAILABLE, details: 'Lost.' });
      else done(null, { id: 'one', resolved: { activationDistance: 0.001 } });
    },
    GetServerInfo: (call: Call, done: Done) => {
      noteKey(call);
      done(null, { algorithmVersion: '0' });
    },
    DeleteSession: (call: Call, done: Done) => {
      noteKey(call);
      done(null, {});
    },
    StepStream: (call: ServerDuplexStream<{ frame: number; afterFrame: number; target: object }, object>) => {
      noteKey(call);
      call.on('data', ({ frame, afterFrame, target }) => {
        seen.frames.add(frame);
        seen.steps.push([frame, afterFrame]);
        const retryAfter = { seconds: 0, nanos: 1_000_000 };
        if (seen.targets++ < count) call.write({ error: { code, message: 'Not now.', retryable, retryAfter } });
        else call.write({ response: { frame, positions: target, report: { status: 'CONVERGED' } } });
      });
      call.on('end', () => call.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    const done = (error: Error | null, bound: number): void => (error ? reject(error) : resolve(bound));
    busy.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), done);
  });
  t.teardown(() => busy.forceShutdown());
  return { address: `127.0.0.1:${port}`, seen };
}

t.test('a target that gets a retryable refusal is sent again with the same frame number', async (t) => {
  const { address, seen } = await openBusyService(t, { count: 2, code: 'QUEUE_FULL', retryable: true });
  const service = await Service.open(address, model, x, {}, { apiKey: 'a key' });
  t.same([...(await service.step(x, 0.001)).positions], [...x]);
  await service.close();
  t.equal(seen.targets, 3);
  t.same([...seen.frames], [1]);
  t.same([...seen.keys], ['Bearer a key'], 'every call brings the key');
});

t.test('a final refusal ends the step at once, and a parameter that the report lacks is not a number', async (t) => {
  const { address, seen } = await openBusyService(t, { count: 1, code: 'FRAME_LOST', retryable: false });
  const service = await Service.open(address, model, x, {});
  await t.rejects(service.step(x, 0.001), /^FRAME_LOST: Not now\./);
  t.equal(seen.targets, 1);
  t.equal(service.parameter('activationDistance'), 0.001);
  t.throws(() => service.parameter('activation'), RangeError);
  await service.close();
});

t.test('every step names the frame of the last answer, from which it continues', async (t) => {
  const { address, seen } = await openBusyService(t, { count: 1, code: 'INVALID_ARGUMENT', retryable: false });
  const service = await Service.open(address, model, x, {});
  await t.rejects(service.step(x, 0.001), /^INVALID_ARGUMENT/);
  for (let i = 0; i < 2; i++) await service.step(x, 0.001);
  await service.close();
  t.same(seen.steps, [
    [1, 0],
    [2, 0],
    [3, 2],
  ]);
});

t.test('a creation whose answer is lost is sent again with the same key', async (t) => {
  const { address, seen } = await openBusyService(t, { count: 0, code: '', retryable: false }, 2);
  await (await Service.open(address, model, x, {})).close();
  t.equal(seen.creations.length, 3);
  t.equal(new Set(seen.creations).size, 1);
  t.not(seen.creations[0], '');
});
