import type { Quality } from '../../src/contract/parameters.js';
import { GrpcClient } from '../../src/load/grpc-client.js';
import { createMessage } from '../../src/load/messages.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';
import type { Cloth } from './cloth.js';

/** Number of sessions opened at a time: opening is not measured, and must not overflow the queue. */
const OPEN_AT_ONCE = 8;

/** Opens sessions with the same cloth. @returns their ids @throws Error with the code if one is refused */
export async function openSessions(
  grpcAddress: string,
  cloth: Cloth,
  count: number,
  quality?: Quality,
): Promise<string[]> {
  const client = new GrpcClient(grpcAddress);
  const message = createMessage(cloth, { quality });
  const ids: string[] = [];
  const open = async (): Promise<void> => {
    while (ids.length < count) {
      const place = ids.push('') - 1;
      const reply = await client.call('CreateSession', message);
      if (reply.code !== 'OK') throw new Error(`A session was refused: ${reply.code}.`);
      ids[place] = String(decodeMessage('Session', reply.bytes!).id);
    }
  };
  try {
    await Promise.all(Array.from({ length: OPEN_AT_ONCE }, open));
  } finally {
    client.close();
  }
  return ids;
}

export async function deleteSessions(grpcAddress: string, ids: readonly string[]): Promise<void> {
  const client = new GrpcClient(grpcAddress);
  try {
    await Promise.all(
      ids.map((sessionId) => client.call('DeleteSession', encodeMessage('DeleteSessionRequest', { sessionId }))),
    );
  } finally {
    client.close();
  }
}
