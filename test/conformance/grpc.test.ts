import t from 'tap';
import { decodeJson } from '../../src/transport/json/decode.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { callRaw, detailsOf, openGrpc } from '../transport/grpc/door.js';
import { MESSAGES_OF } from './cases.js';
import { type Door, openOperations, runCases } from './run.js';

t.test('gRPC', async (t) => {
  const operations = await openOperations(t);
  const { client } = await openGrpc(t, { operations, maxMessageBytes: 1 << 20 });
  const door: Door = {
    call: async (operation, request) => {
      const names = MESSAGES_OF[operation];
      const body = encodeMessage(names.request, decodeJson(names.request, request).message);
      const { error, bytes } = await callRaw(client, operation, body);
      if (error) return { error: encodeJson('Error', detailsOf(error).error, { arrays: true }) };
      return { answer: encodeJson(names.answer, decodeMessage(names.answer, bytes!), { arrays: true }) };
    },
  };
  await runCases(t, door);
});
