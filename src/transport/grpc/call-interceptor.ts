import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import type { Caller } from '../../contract/call-context.js';
import { IntersticeError } from '../../contract/errors.js';
import { hasPreflight, isAboutJobs } from '../../contract/operation-table.js';
import { requestIdOf, UPLOAD_TIMEOUT_MS } from '../common.js';
import { ANSWER_STALL_MS } from '../intake/arrival.js';
import { clientName } from '../intake/client-name.js';
import { drainingError } from '../service-state.js';
import { CallState, headerOf, isOk, logCall, rememberCallState } from './call-state.js';
import { internalsOf } from './library-internals.js';
import { MessageMeter } from './message-meter.js';
import type { GrpcOptions } from './options.js';
import { operationOf, SERVICE } from './service.js';
import { cutOff, DETAILS_KEY, errorOfLibrary, isAboutMessage, statusOf } from './status.js';
import { unpackWithin } from './unpack.js';

/** Metadata that names the session of a step. Without it, most steps can be refused only after the message. */
export const SESSION_KEY = 'interstice-session';

/**
 * Handles the metadata of every call before its message arrives: request id, draining, authentication, preflight. Calls
 * of other services (health, reflection) pass unchanged; they are only tracked, because some of them never end by
 * themselves.
 */
export class CallInterceptor {
  readonly #foreignCalls = new Set<ServerInterceptingCallInterface>();
  #warnsOfLibrary = true;

  constructor(private readonly options: GrpcOptions) {}

  readonly interceptor: ServerInterceptor = (method, call) =>
    method.path.startsWith(`/${SERVICE}/`)
      ? this.#intercept(call, method.path, { isStream: method.requestStream, hasManyAnswers: method.responseStream })
      : this.#track(call);

  /** Ends the calls of other services. Calls of this service end by themselves, or the drain ends them. */
  closeForeignCalls(): void {
    for (const call of this.#foreignCalls) {
      call.sendStatus({ code: status.UNAVAILABLE, details: 'The server is closing.' });
    }
  }

  #track(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const toStatus = (thrown: unknown) => statusOf(IntersticeError.from(thrown), requestIdOf(undefined));
    refuseMalformed(call, toStatus);
    const meter = this.#meter(call, { maxMessageBytes: FOREIGN_MESSAGE_BYTES, toStatus });
    const listener: ServerListener = {
      onReceiveMetadata: (metadata, next) => {
        try {
          this.#refuseStrangers(call, metadata);
        } catch (thrown) {
          call.sendStatus(toStatus(thrown));
          return;
        }
        this.#foreignCalls.add(call);
        next(metadata);
      },
      onCancel: () => {
        meter?.end();
        this.#foreignCalls.delete(call);
      },
    };
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  }

  /** Web pages reach this server only if a proxy or TLS makes it use HTTP/2 with browsers. @throws PERMISSION_DENIED */
  #refuseStrangers(call: ServerInterceptingCallInterface, metadata: Metadata): void {
    this.options.guard?.check(call.getHost(), headerOf(metadata, 'origin'));
  }

  /**
   * Charges the messages of a call to the ledger, and refuses those without room.
   * @returns undefined if the library is too different
   */
  #meter(
    call: ServerInterceptingCallInterface,
    { maxMessageBytes, toStatus, caller, answersRefusals = false }: Metering,
  ): MessageMeter | undefined {
    const { bodies, arrivalTimes, discardLimits, answerStallMs, log } = this.options;
    const internals = internalsOf(call);
    if (!internals) {
      if (this.#warnsOfLibrary) {
        log.warn(
          { missing: 'stream' },
          'This version of @grpc/grpc-js is unknown: INTERSTICE_MAX_BODY_BYTES does not apply to gRPC.',
        );
      }
      this.#warnsOfLibrary = false;
      return undefined;
    }
    const { remoteAddress } = call.getConnectionInfo();
    const meter = new MessageMeter(
      internals.stream,
      { bodies, arrivalTimes, maxMessageBytes, answersRefusals, discardBytes: discardLimits?.bytes, answerStallMs },
      () => clientName(caller?.(), remoteAddress),
      (reason) => call.sendStatus(toStatus(reason)),
    );
    internals.decoder.maxReadMessageLength = maxMessageBytes;
    unpackWithin(internals, meter, maxMessageBytes, toStatus);
    return meter;
  }

  /**
   * @param kind `isStream`: the caller sends several messages, each with an answer of its own; `hasManyAnswers`: the
   *   call has several answers, so that the writer of each watches whether it is sent
   */
  #intercept(
    call: ServerInterceptingCallInterface,
    path: string,
    { isStream, hasManyAnswers }: { readonly isStream: boolean; readonly hasManyAnswers: boolean },
  ): ServerInterceptingCall {
    const {
      state,
      maxMessageBytes,
      uploadTimeoutMs = UPLOAD_TIMEOUT_MS,
      answerStallMs = ANSWER_STALL_MS,
    } = this.options;
    let callState: CallState | undefined;
    let uploadTimer: NodeJS.Timeout | undefined;
    let resetTimer: NodeJS.Timeout | undefined;
    let endPreflight = () => {};
    let stopWaiting = () => {};
    addDetails(call, maxMessageBytes, () => callState);
    const meter = this.#meter(call, {
      maxMessageBytes,
      caller: () => callState?.caller,
      toStatus: (refusal) => callState!.refuse(refusal),
      answersRefusals: isStream,
    });
    const listener: ServerListener = {
      onReceiveMetadata: (metadata, next) => {
        callState = new CallState(metadata, path);
        callState.meter = meter;
        // A stream counts only while it computes a step: an idle stream would block a drain indefinitely.
        if (!isStream) state.enter();
        try {
          this.#refuseStrangers(call, metadata);
          const operation = operationOf(path);
          state.refuseIfDraining(operation && isAboutJobs(operation));
          callState.caller = this.options.authenticate?.(callState.header);
          if (operation && hasPreflight(operation)) {
            const sessionId = headerOf(metadata, SESSION_KEY);
            endPreflight = this.options.operations.preflight({ operation, sessionId }, callState.context);
          }
        } catch (thrown) {
          call.sendStatus(callState.refuse(thrown));
          return;
        }
        rememberCallState(metadata, callState);
        if (!isStream) {
          uploadTimer = setTimeout(() => call.sendStatus(lateUpload(callState!, uploadTimeoutMs)), uploadTimeoutMs);
          stopWaiting = state.whenOver(() => call.sendStatus(callState!.refuse(drainingError(state.reason))));
        }
        next(metadata);
      },
      onReceiveMessage: (message, next) => {
        callState!.bytesIn += (message as Uint8Array).byteLength;
        next(message);
      },
      // The library calls the handler of a call with one message only now. A caller that never ends its half of the
      // stream must not hold the memory of the message, or a drain.
      onReceiveHalfClose: (next) => {
        clearTimeout(uploadTimer);
        stopWaiting();
        endPreflight();
        if (!meter?.isWithinMessage) {
          if (callState!.outcome === undefined) next();
          return;
        }
        resetTimer = setTimeout(() => {
          if (callState!.outcome !== undefined) return;
          if (isStream) next();
          else call.sendStatus(callState!.refuse(cutOff()));
        }, RESET_DELAY_MS);
      },
      // The library calls this once at the end of every call, even of a successful one.
      onCancel: () => {
        clearTimeout(uploadTimer);
        clearTimeout(resetTimer);
        stopWaiting();
        endPreflight();
        meter?.end();
        callState!.end(call.getDeadline());
        if (!isStream) state.leave();
        logCall(this.options, callState!);
      },
    };
    const responder = {
      start: (next: (listener: ServerListener) => void) => next(listener),
      sendMessage: (message: unknown, next: (message: unknown) => void) => {
        if (!hasManyAnswers) meter?.beginAnswer(answerStallMs);
        next(message);
      },
    };
    return isStream ? new GatedCall(call, responder, () => callState) : new ServerInterceptingCall(call, responder);
  }
}

/**
 * ms from the end of a request within a message to its refusal. Node ends the stream of a cancelled call before it
 * resets it, so a reset that follows tells a caller who gave up from one who sent too little.
 */
const RESET_DELAY_MS = 250;

/** How the messages of a call are charged. */
interface Metering {
  readonly maxMessageBytes: number;
  readonly toStatus: (refusal: unknown) => StatusObject;
  /** its result is undefined until the metadata have arrived, and on a service without keys */
  readonly caller?: () => Caller | undefined;
  /** see MeterOptions */
  readonly answersRefusals?: boolean;
}

/** Largest message of health and reflection, which need no key: their requests contain only a name. */
const FOREIGN_MESSAGE_BYTES = 64 * 1024;

/** A stream whose reads wait for the read gate of its call. */
class GatedCall extends ServerInterceptingCall {
  constructor(
    call: ServerInterceptingCallInterface,
    responder: ConstructorParameters<typeof ServerInterceptingCall>[1],
    private readonly callState: () => CallState | undefined,
  ) {
    super(call, responder);
  }

  override startRead(): void {
    this.callState()?.readGate.pass(() => super.startRead());
  }
}

type GivenStatus = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

const lateUpload = (callState: CallState, milliseconds: number) =>
  callState.refuse(
    new IntersticeError('MALFORMED_BODY', `The message was not complete after ${milliseconds / 1000} s.`, {
      hint: 'Send the whole message without a pause, and end the sending half of the call after it.',
    }),
  );

/**
 * Replaces the statuses that the library creates (size, compression, deadline) with errors of the service. They do not
 * pass through interceptors, so `sendStatus` itself is wrapped.
 */
function addDetails(
  call: ServerInterceptingCallInterface,
  maxMessageBytes: number,
  getState: () => CallState | undefined,
): void {
  const send = call.sendStatus.bind(call);
  call.sendStatus = (given: GivenStatus) => {
    const callState = getState();
    if (!callState || given.metadata?.get(DETAILS_KEY).length) return send(given);
    if (isOk(given.code)) {
      callState.outcome ??= 'OK';
      return send(given);
    }
    // The deadline may pass while the answer is being written: the caller sees the first outcome.
    if (callState.outcome !== undefined) return send(given);
    send(callState.refuse(errorOfLibrary(given, maxMessageBytes)));
  };
}

/**
 * Health and reflection decode their own messages, and the library reports bytes that it cannot decode or unpack as
 * INTERNAL, although the request is at fault.
 */
function refuseMalformed(call: ServerInterceptingCallInterface, toStatus: (refusal: unknown) => StatusObject): void {
  const send = call.sendStatus.bind(call);
  call.sendStatus = (given: GivenStatus) => {
    const isMalformed = given.code === status.INTERNAL && isAboutMessage(given.details);
    send(isMalformed ? toStatus(errorOfLibrary(given, FOREIGN_MESSAGE_BYTES)) : given);
  };
}
