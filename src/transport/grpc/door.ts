import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
  status,
} from '@grpc/grpc-js';
import type { Preflight } from '../../contract/call-context.js';
import { IntersticeError } from '../../contract/errors.js';
import { logCall } from './call-log.js';
import { refusalOfLibrary } from './library-status.js';
import { type GrpcOptions, UPLOAD_TIMEOUT_MS } from './options.js';
import { DETAILS_KEY } from './refusal.js';
import { SERVICE } from './service.js';
import { headerOf, isOk, rememberVisit, Visit } from './visit.js';

/** Calls with a message worth refusing before it has come. */
const KNOCKS: ReadonlyMap<string, Preflight['operation']> = new Map<string, Preflight['operation']>([
  [`/${SERVICE}/Resolve`, 'resolve'],
  [`/${SERVICE}/Check`, 'check'],
  [`/${SERVICE}/CreateSession`, 'createSession'],
  [`/${SERVICE}/UpdateSession`, 'updateSession'],
  [`/${SERVICE}/Step`, 'step'],
]);

/** Metadata that names the session of a step ahead of its message: without it little can be said before that has come. */
export const SESSION_KEY = 'interstice-session';

/**
 * What every call meets first, before its message has arrived: a name, whether the server takes work, whose key it has.
 * Calls of other services (health, reflection) pass; they are only remembered, since some of them never end by themselves.
 */
export class Door {
  readonly #others = new Set<ServerInterceptingCallInterface>();

  constructor(private readonly options: GrpcOptions) {}

  readonly interceptor: ServerInterceptor = (method, call) =>
    method.path.startsWith(`/${SERVICE}/`)
      ? this.#ofService(call, method.path, method.requestStream)
      : this.#ofOthers(call);

  /** Ends the calls of other services. Ours end by themselves, or are drained. */
  closeOthers(): void {
    for (const call of this.#others) call.sendStatus({ code: status.UNAVAILABLE, details: 'The server is closing.' });
  }

  #ofOthers(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const listener: ServerListener = {
      onReceiveMetadata: (metadata, next) => {
        this.#others.add(call);
        next(metadata);
      },
      onCancel: () => this.#others.delete(call),
    };
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  }

  #ofService(call: ServerInterceptingCallInterface, path: string, isStream: boolean): ServerInterceptingCall {
    const { state, uploadTimeoutMs = UPLOAD_TIMEOUT_MS } = this.options;
    let visit: Visit | undefined;
    let upload: NodeJS.Timeout | undefined;
    let arrived = () => {};
    const { maxMessageBytes } = this.options;
    giveDetails(call, maxMessageBytes, () => visit);
    const listener: ServerListener = {
      onReceiveMetadata: (metadata, next) => {
        visit = new Visit(metadata, path);
        // A stream counts while it has something to do; open streams would hold a drain for ever.
        if (!isStream) state.enter();
        try {
          if (state.phase === 'draining') throw new IntersticeError('DRAINING', state.reason, { retryAfterSeconds: 1 });
          visit.caller = this.options.authenticate?.((name) => headerOf(metadata, name));
          const operation = KNOCKS.get(path);
          const sessionId = headerOf(metadata, SESSION_KEY);
          if (operation) arrived = this.options.operations.preflight({ operation, sessionId }, visit.context);
        } catch (thrown) {
          call.sendStatus(visit.refuse(thrown));
          return;
        }
        rememberVisit(metadata, visit);
        if (!isStream) upload = setTimeout(() => call.sendStatus(lateUpload(visit!, uploadTimeoutMs)), uploadTimeoutMs);
        next(metadata);
      },
      onReceiveMessage: (message, next) => {
        clearTimeout(upload);
        arrived();
        visit!.bytesIn += (message as Uint8Array).byteLength;
        next(message);
      },
      // The library says so once at the end of every call, however it ended.
      onCancel: () => {
        clearTimeout(upload);
        arrived();
        visit!.end(call.getDeadline());
        if (!isStream) state.leave();
        logCall(this.options, visit!);
      },
    };
    const responder = { start: (next: (listener: ServerListener) => void) => next(listener) };
    return isStream ? new GatedCall(call, responder, () => visit) : new ServerInterceptingCall(call, responder);
  }
}

/** A stream whose reads wait at the gate of its visit. */
class GatedCall extends ServerInterceptingCall {
  constructor(
    call: ServerInterceptingCallInterface,
    responder: ConstructorParameters<typeof ServerInterceptingCall>[1],
    private readonly visit: () => Visit | undefined,
  ) {
    super(call, responder);
  }

  override startRead(): void {
    this.visit()?.gate.pass(() => super.startRead());
  }
}

type GivenStatus = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

const lateUpload = (visit: Visit, milliseconds: number) =>
  visit.refuse(new IntersticeError('MALFORMED_BODY', `The message was not complete after ${milliseconds / 1000} s.`));

/**
 * Statuses that the library makes do not pass the interceptors: they are met where they leave, so that those calls end
 * like all others, with our code, details and a line in the log.
 */
function giveDetails(
  call: ServerInterceptingCallInterface,
  maxMessageBytes: number,
  visitOf: () => Visit | undefined,
): void {
  const send = call.sendStatus.bind(call);
  call.sendStatus = (given: GivenStatus) => {
    const visit = visitOf();
    if (!visit || given.metadata?.get(DETAILS_KEY).length) return send(given);
    if (isOk(given.code)) {
      visit.outcome ??= 'OK';
      return send(given);
    }
    // The deadline may strike when the answer is already being written: the first outcome is what the caller sees.
    if (visit.outcome !== undefined) return send(given);
    send(visit.refuse(refusalOfLibrary(given, maxMessageBytes)));
  };
}
