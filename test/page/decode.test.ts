import { join } from 'node:path';
import t from 'tap';
import { motionFromJson, parseAnswer } from '../../src/client/wire.js';
import { type ContractTables, decode } from '../../src/page/service/decode.js';
import { projectRoot } from '../../src/paths.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { fromResolveAnswer } from '../../src/transport/messages/answers.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { openOperations } from '../conformance/run.js';

/** The page reads answers as protobuf, by tables that the build takes from the contract. */

const { contractTables } = (await import(join(projectRoot, 'deploy', 'page.mjs'))) as {
  contractTables(): Promise<ContractTables>;
};
const tables = await contractTables();

t.test('an answer is the same whether it came as bytes or as JSON', async (t) => {
  const operations = await openOperations(t);
  const square = (z: number) => [0, 0, z, 1, 0, z, 1, 1, z, 0, 1, z];
  const answer = await operations.resolve({
    mesh: { vertexCount: 8, triangles: Uint32Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7) },
    start: Float64Array.from([...square(0), ...square(0.5)]),
    target: Float64Array.from([...square(1), ...square(0.5)]),
    parameters: {},
    include: { contacts: true, vertices: true, path: true, reasons: true },
  });
  const message = fromResolveAnswer(answer);
  const bytes = encodeMessage('ResolveResponse', message);
  const text = JSON.stringify(encodeJson('ResolveResponse', message, { arrays: false }));
  const [read, wanted] = [decode(tables, 'ResolveResponse', bytes), parseAnswer(text)].map(motionFromJson);
  t.ok(wanted!.path!.positions.length > 48 && wanted!.contacts!.distances.length > 0, 'there is something to compare');
  t.same(read, wanted);

  for (const length of [1, 40, bytes.length - 1]) {
    t.throws(() => decode(tables, 'ResolveResponse', bytes.subarray(0, length)), RangeError, `cut off at ${length}`);
  }
  // A newer service: a field 100 with a number, and one with bytes.
  const newer = Uint8Array.of(...bytes, 0xa0, 0x06, 0x05, 0xa2, 0x06, 0x02, 0x61, 0x62);
  t.same(motionFromJson(decode(tables, 'ResolveResponse', newer)), wanted, 'unknown fields are skipped');
});
