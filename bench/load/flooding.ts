import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { codeInDetails } from '../../src/load/grpc-client.js';
import { SERVICE } from '../../src/transport/grpc/service.js';
import type { ServerProcess } from '../prove/server.js';

const MIB = 2 ** 20;

/** Counts of a flood so far. */
export interface FloodTally {
  sentBytes: number;
  /** refusals by code; CLOSED = the connection ended without an answer that could be read */
  readonly refused: Record<string, number>;
}

/** Bodies that are being sent and never complete. */
export interface RunningFlood {
  readonly tally: FloodTally;
  /** ends all connections */
  end(): void;
}

const newTally = (): FloodTally => ({ sentBytes: 0, refused: {} });

const count = ({ refused }: FloodTally, code: string): void => {
  refused[code] = (refused[code] ?? 0) + 1;
};

/**
 * Returns a separate loopback address for every client, so that the share of one address does not protect the service.
 */
export const addressOf = (client: number): string => `127.0.1.${1 + (client % 250)}`;

const PIECE = Buffer.alloc(MIB);

export interface HttpFlood {
  /** bodies that begin together, and ms from one wave to the next */
  readonly waves: readonly number[];
  readonly pauseMs: number;
  /** bytes of a body; all but the last one are sent */
  readonly bytes: number;
  readonly isChunked: boolean;
}

/** Clients that send regardless of the answers, each from an address of its own. */
export function floodHttp(server: ServerProcess, { waves, pauseMs, bytes, isChunked }: HttpFlood): RunningFlood {
  const { port } = new URL(server.address);
  const tally = newTally();
  const sockets: Socket[] = [];
  const timers: NodeJS.Timeout[] = [];
  const length = isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes}`;
  const head = `POST /v1/resolve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\n${length}\r\n\r\n`;
  const begin = (): void => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: addressOf(sockets.length) });
    sockets.push(socket);
    let heard = '';
    socket.on('data', (data) => {
      heard += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => count(tally, /"code":"(\w+)"/.exec(heard)?.[1] ?? 'CLOSED'));
    let left = bytes - 1;
    const sendOn = (): void => {
      if (socket.destroyed || left === 0) return;
      const piece = left < PIECE.byteLength ? PIECE.subarray(0, left) : PIECE;
      left -= piece.byteLength;
      if (isChunked) socket.write(`${piece.byteLength.toString(16)}\r\n`);
      socket.write(piece, (error) => {
        if (error) return;
        tally.sentBytes += piece.byteLength;
        sendOn();
      });
      if (isChunked) socket.write('\r\n');
    };
    socket.write(head);
    sendOn();
  };
  waves.forEach((size, wave) => {
    timers.push(setTimeout(() => Array.from({ length: size }, begin), wave * pauseMs));
  });
  return {
    tally,
    end: () => {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Calls on one connection whose messages never complete. */
export function floodGrpc(server: ServerProcess, calls: number, bytes: number): RunningFlood {
  const tally = newTally();
  // A client of Node stores no headers of answers while 10 MB, by default, wait to be written.
  const session = connectHttp2(`http://${server.grpcAddress}`, { maxSessionMemory: 1000 });
  session.on('error', () => {});
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes, 1);
  for (let call = 0; call < calls; call++) {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': `/${SERVICE}/Resolve` },
      ...{ 'content-type': 'application/grpc', te: 'trailers' },
    });
    let code = 'CLOSED';
    const note = (headers: NodeJS.Dict<string | string[]>): void => {
      const details = headers['grpc-status-details-bin'];
      if (typeof details === 'string') code = codeInDetails(Buffer.from(details, 'base64')) ?? code;
    };
    stream
      .on('response', note)
      .on('trailers', note)
      .on('error', () => {})
      .resume();
    stream.on('close', () => count(tally, code));
    let left = bytes - 1;
    const sendOn = (): void => {
      if (stream.destroyed || stream.closed || left === 0) return;
      const piece = left < PIECE.byteLength ? PIECE.subarray(0, left) : PIECE;
      left -= piece.byteLength;
      stream.write(piece, (error) => {
        if (error) return;
        tally.sentBytes += piece.byteLength;
        sendOn();
      });
    };
    stream.write(prefix);
    sendOn();
  }
  return { tally, end: () => session.destroy() };
}
