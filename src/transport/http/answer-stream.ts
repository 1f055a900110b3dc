import { PassThrough } from 'node:stream';
import type { FastifyReply } from 'fastify';
import protobuf from 'protobufjs/minimal.js';
import type { CallContext } from '../../contract/call-context.js';
import { logFault } from '../../observe/log.js';
import { answerBytes } from '../answer-bytes.js';
import type { ReportedAnswer } from '../answer-timing.js';
import { encodeJson } from '../json/encode.js';
import { fromError } from '../messages/answers.js';
import { fromJob } from '../messages/long-jobs.js';
import { messageShape } from '../messages/schema.js';
import type { fromUntangled } from '../messages/untangle.js';
import { encodeMessage } from '../protobuf/encode.js';
import { roomForAnswer } from './bodies.js';
import { toError } from './errors.js';
import type { StreamType } from './media-types.js';
import { encodeReportedAnswer, encodeUntangledJson } from './message-body.js';
import type { HttpOptions } from './options.js';

/**
 * Largest time between two messages, ms: proxies and clients close connections that are silent for a minute. The last
 * message is sent again, or one without a result if there was none.
 */
export const HEARTBEAT_MS = 15_000;

/**
 * An answer that is sent as a stream of messages: progress while it is computed, then the answer. A request that is
 * refused before the first message gets an ordinary error answer; afterwards the error is the last message.
 */
export class AnswerStream {
  #body: PassThrough | undefined;
  #last: object = {};

  /** @param message of the contract, the type of all messages of the stream */
  constructor(
    private readonly reply: FastifyReply,
    private readonly type: StreamType,
    private readonly message: string,
    private readonly options: HttpOptions,
  ) {}

  /** Listeners for the messages of the operation while it runs. */
  get listeners(): Pick<CallContext, 'onProgress' | 'onUntangleProgress' | 'onJob'> {
    return {
      onProgress: ({ steps, residual, unfinishedVertices }) =>
        this.#tell({ progress: { steps, residual, unfinishedVertices } }),
      onUntangleProgress: (progress) => this.#tell({ progress }),
      onJob: (job) => this.#tell({ job: fromJob(job) }),
    };
  }

  /**
   * Computes the answer and sends it.
   * @param work @returns the pieces of the last message, see {@link lastMessage}, {@link lastReported} and
   *   {@link lastUntangled}
   * @throws the refusal, as long as nothing has been sent
   */
  async run(work: () => Promise<readonly Uint8Array[]>): Promise<void> {
    const { heartbeatMs = HEARTBEAT_MS } = this.options;
    const timer = setInterval(() => this.#tell(this.#last), heartbeatMs);
    try {
      for (const piece of await work()) this.#write(piece);
    } catch (thrown) {
      if (!this.#body) throw thrown;
      const { request } = this.reply;
      const error = toError(thrown, request, this.options);
      if (error.code === 'INTERNAL') logFault(this.options.log, request.id, thrown);
      request.errorCode = error.code;
      this.#write(this.#encode({ error: fromError(error, request.id) }));
    } finally {
      clearInterval(timer);
      this.#body?.end();
    }
  }

  /** The last message of an answer without a report. */
  lastMessage(result: object): readonly Uint8Array[] {
    return [this.#encode(result)];
  }

  /**
   * The last message of an answer with positions and a report.
   * @param name of the answer's own message, which is the field `response` of the stream's message
   * @param arrays JSON only: whether bulk fields are arrays of numbers
   */
  async lastReported(
    name: string,
    message: { readonly report: object },
    answer: ReportedAnswer,
    { arrays, answered }: { readonly arrays: boolean; readonly answered: number },
  ): Promise<readonly Uint8Array[]> {
    if (this.type === 'application/x-ndjson') {
      const format = { type: 'application/json', arrays, answered } as const;
      const { body } = await encodeReportedAnswer(this.reply, name, message, answer, format);
      return this.#lineOf(body);
    }
    const format = { type: 'application/x-protobuf', arrays: false, answered } as const;
    const fieldNumber = messageShape(this.message).byName.get('response')!.number;
    const enclosure = { before: new Uint8Array(0), fieldNumber };
    const { body } = await encodeReportedAnswer(this.reply, name, message, answer, format, enclosure);
    return [lengthOf(body), body];
  }

  /** The last message of an untangling. @param arrays JSON only: whether bulk fields are arrays of numbers */
  async lastUntangled(message: ReturnType<typeof fromUntangled>, arrays: boolean): Promise<readonly Uint8Array[]> {
    if (this.type === 'application/x-ndjson')
      return this.#lineOf(await encodeUntangledJson(this.reply, message, arrays));
    await roomForAnswer(this.reply, answerBytes(message, 'binary'));
    return this.lastMessage({ response: message });
  }

  /** The last message as a line. @param response its field of this name, as JSON */
  #lineOf(response: Uint8Array): readonly Uint8Array[] {
    const before = JSON.stringify(encodeJson(this.message, {}, { arrays: false })).slice(0, -1);
    return [Buffer.from(`${before}${before === '{' ? '' : ','}"response":`), response, Buffer.from('}\n')];
  }

  /** Sends a message, unless the caller reads more slowly than messages are sent: the next one supersedes it. */
  #tell(result: object): void {
    this.#last = result;
    const { raw } = this.reply;
    if ((this.#body?.writableLength ?? 0) > 0 || raw.writableLength > 0) return;
    this.#write(this.#encode(result));
  }

  #write(bytes: Uint8Array): void {
    this.#body ??= this.#open();
    if (!this.#body.destroyed) this.#body.write(bytes);
  }

  #open(): PassThrough {
    const body = new PassThrough();
    // A proxy that collects the answer would withhold the progress.
    this.reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no').type(this.type).send(body);
    return body;
  }

  #encode(result: object): Uint8Array {
    if (this.type === 'application/x-ndjson')
      return Buffer.from(`${JSON.stringify(encodeJson(this.message, result, { arrays: false }))}\n`);
    const bytes = encodeMessage(this.message, result);
    return Buffer.concat([lengthOf(bytes), bytes]);
  }
}

/** As a varint. */
const lengthOf = ({ byteLength }: Uint8Array): Uint8Array => protobuf.Writer.create().uint32(byteLength).finish();
