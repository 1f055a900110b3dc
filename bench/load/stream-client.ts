import type { WireMessage } from '../../src/transport/json/wire.js';
import { decodeMessage } from '../../src/transport/protobuf/codec.js';
import { GrpcClient, type Stream, timingsOf } from './grpc-client.js';

/** One stream that stays open, one message at a time. */
export class StreamClient {
  private readonly client: GrpcClient;
  private readonly stream: Stream;
  private waiting: { resolve: (bytes: Uint8Array) => void; reject: (reason: Error) => void } | undefined;

  constructor(address: string) {
    this.client = new GrpcClient(address);
    this.stream = this.client.openStream();
    this.stream.on('data', (bytes: Uint8Array) => this.waiting?.resolve(bytes));
    this.stream.on('error', (error) => this.waiting?.reject(error));
  }

  send(message: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.stream.write(message);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.stream.end();
    this.client.close();
  }

  /** Microseconds by stage of an answer; undefined of a refusal. */
  static timingsOf(bytes: Uint8Array): Record<string, number> | undefined {
    const message = decodeMessage('StepStreamResponse', bytes) as Record<string, WireMessage | undefined>;
    return timingsOf(message.response);
  }
}
