import t from 'tap';
import { OPERATIONS } from '../../src/contract/operation-table.js';
import { decodeJson } from '../../src/transport/json/decode.js';
import { encodeJson } from '../../src/transport/json/encode.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import { callRaw, detailsOf, openGrpc } from '../transport/grpc/door.js';
import { type Door, openOperations, runCases } from './run.js';

t.test('gRPC conformance', async (t) => {
  const operations = await openOperations(t);
  const { client } = await openGrpc(t, { operations, maxMessageBytes: 1 << 20 });
  const door: Door = {
    call: async (operation, request) => {
      const { request: requestType, response, grpcMethod } = OPERATIONS[operation];
      const body = encodeMessage(requestType, decodeJson(requestType, request).message);
      const { error, bytes } = await callRaw(client, grpcMethod, body);
      if (error) return { error: encodeJson('Error', detailsOf(error).error, { arrays: true }) };
      return { answer: encodeJson(response, decodeMessage(response, bytes!), { arrays: true }) };
    },
  };
  await runCases(t, door);
});
