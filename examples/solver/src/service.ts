import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type ClientDuplexStream, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { type Contacts, NO_CONTACTS, readContacts } from './contacts.js';
import type { Model } from './model.js';
import {
  type Access,
  type CreatedSession,
  makeStub,
  type Parameters,
  type Positions,
  RECONNECT_MS,
  type Refusal,
  type Report,
  type Scalar,
  type ServerInfo,
  type StepMessage,
  type StreamMessage,
  type Stub,
} from './stub.js';

export type { Access, Parameters, Report } from './stub.js';

export interface Answer {
  /** float64[3·V]: the numbers of the answer, verified as they are */
  readonly positions: Float64Array;
  readonly contacts: Contacts;
  readonly report: Report;
  /** if requested: states between which all vertices moved on straight lines, including start and answer */
  readonly path?: readonly Float64Array[];
}

/** A call with this status may not have arrived: the connection was lost, or the service is being replaced. */
const LOST: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.INTERNAL, status.CANCELLED, status.UNKNOWN]);
/** largest number of attempts for a target while connections are lost */
const ATTEMPTS = 5;
/**
 * largest number of attempts while the service refuses it temporarily: with the pauses below, at least half a minute
 */
const PATIENCE = 20;
/** ms: longest pause between two of those, if the service specifies none */
const LONGEST_PAUSE_MS = 2000;
/** Thrown if the connection has ended without an answer. */
class LostError extends Error {}

/** Thrown if the service refuses a target, perhaps only temporarily. */
class RefusedError extends Error {
  constructor(readonly refusal: Refusal) {
    super(`${refusal.code}: ${refusal.message} ${refusal.hint}`);
  }
}

/** The data from which a session is created, besides its positions. */
interface Creation {
  readonly mesh: object;
  readonly parameters: Parameters;
}

/**
 * One session of the service, over a gRPC stream: an answer for every target, in order. The session outlives the
 * stream. If the connection is lost, another stream is opened and the same target is sent again under the same number:
 * it is computed once. A target that is refused only temporarily, because the queue is full, is sent again after the
 * time that the service specifies. If the session is gone, because it expired or its service ended, another one is
 * created from the last answer. Positions are float32; if the mesh moves so far away that contacts cannot be kept apart
 * in float32, another session continues in float64.
 */
export class Service {
  #stream: ClientDuplexStream<object, StreamMessage> | undefined;
  #frame = 0;
  /** the frame of the last answer */
  #answered = 0;
  #scalar: Scalar = 'FLOAT32';

  private constructor(
    private readonly stub: Stub,
    private readonly metadata: Metadata,
    private readonly creation: Creation,
    private session: CreatedSession,
    /** float64[3·V] the last answer, or the start */
    private position: Float64Array,
    /** equal requests have answers of equal bytes within one version */
    readonly algorithmVersion: string,
  ) {}

  /**
   * @param address host:port of the gRPC server
   * @param start float64[3·V], free of intersections
   * @throws Error with the contract's code if the service refuses
   */
  static async open(
    address: string,
    model: Model,
    start: Float64Array,
    parameters: Parameters,
    { apiKey, channel }: Access = {},
  ): Promise<Service> {
    const { mesh, masses, isKinematic, parts, limitedRest } = model;
    const stub = makeStub(address, channel);
    const metadata = new Metadata();
    if (apiKey !== undefined) metadata.set('authorization', `Bearer ${apiKey}`);
    const creation = {
      mesh: {
        vertexCount: model.vertexCount,
        triangles: bytesOf(mesh.triangles),
        segments: bytesOf(mesh.segments),
        particles: bytesOf(mesh.particles),
        tetrahedra: bytesOf(mesh.tetrahedra),
        masses: bytesOf(Float32Array.from(masses)),
        kinematic: Buffer.from(isKinematic),
        parts,
        ...(limitedRest ? { strainLimits: { rest: positionsOf(limitedRest, 'FLOAT32') } } : {}),
      },
      parameters,
    };
    try {
      const { algorithmVersion } = await sendAgain(() =>
        call<ServerInfo>((done) => stub.GetServerInfo({}, metadata, done)),
      );
      const session = await createSession(stub, metadata, creation, positionsOf(start, 'FLOAT32'));
      // Defaults depend on the edges of the start: another session with the same parameters must not derive them anew.
      const again = { ...creation, parameters: session.resolved };
      return new Service(stub, metadata, again, session, start.slice(), algorithmVersion);
    } catch (error) {
      stub.close();
      throw error;
    }
  }

  /**
   * Returns a number among the parameters, as the service has resolved it for this mesh.
   *
   * @throws RangeError if there is none with that name
   */
  parameter(name: string): number {
    const value = this.session.resolved[name];
    if (typeof value !== 'number') throw new RangeError(`The service has resolved no number named ${name}.`);
    return value;
  }

  /**
   * Moves towards y as far as contact allows.
   * @param contactDistance the answer lists pairs nearer than this, m
   * @param also further contents of the answer
   * @throws Error with the contract's code if the service refuses
   */
  async step(y: Float64Array, contactDistance: number, also: { readonly path?: boolean } = {}): Promise<Answer> {
    let answer: StepMessage;
    try {
      answer = await this.#send(y, contactDistance, also);
    } catch (error) {
      const code = error instanceof RefusedError ? error.refusal.code : undefined;
      const isTooCoarse = code === 'TOLERANCE_TOO_SMALL' && this.#scalar === 'FLOAT32';
      if (code !== 'SESSION_NOT_FOUND' && !isTooCoarse) throw error;
      if (isTooCoarse) {
        await this.#leave();
        this.#scalar = 'FLOAT64';
      }
      this.session = await createSession(
        this.stub,
        this.metadata,
        this.creation,
        positionsOf(this.position, this.#scalar),
      );
      this.#frame = 0;
      this.#answered = 0;
      answer = await this.#send(y, contactDistance, also);
    }
    this.#answered = this.#frame;
    const read = readAnswer(answer);
    this.position = read.positions.slice();
    return read;
  }

  #send(y: Float64Array, contactDistance: number, also: { readonly path?: boolean }): Promise<StepMessage> {
    const request = {
      sessionId: this.session.id,
      frame: ++this.#frame,
      // The service refuses to continue from another frame than this solver does (FRAME_LOST).
      afterFrame: this.#answered,
      target: positionsOf(y, this.#scalar),
      include: { contacts: true, contactDistance, ...also },
    };
    return sendAgain(() => this.#ask(request));
  }

  /** @throws LostError if the stream ends before its answer */
  #ask(request: object): Promise<StepMessage> {
    const stream = this.#openStream();
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        stream.off('data', answered).off('error', failed).off('end', ended);
        act();
      };
      const answered = ({ response, error }: StreamMessage): void =>
        settle(() => {
          if (response) resolve(response);
          else if (error) reject(new RefusedError(error));
          else reject(new Error('The service has sent neither an answer nor an error.'));
        });
      const failed = (error: ServiceError): void => settle(() => reject(lostOr(error)));
      const ended = (): void => settle(() => reject(new LostError('The service has ended the stream.')));
      stream.on('data', answered).on('error', failed).on('end', ended);
      stream.write(request);
    });
  }

  /** Returns the stream, or a new one if it was lost. */
  #openStream(): ClientDuplexStream<object, StreamMessage> {
    if (this.#stream) return this.#stream;
    const stream = this.stub.StepStream(this.metadata);
    const forget = (): void => {
      if (this.#stream === stream) this.#stream = undefined;
    };
    stream.on('error', forget).on('end', forget); // at any time, even between two steps
    this.#stream = stream;
    return stream;
  }

  async close(): Promise<void> {
    await this.#leave();
    this.stub.close();
  }

  /** Ends the stream, which belongs to the session, and deletes the session; if that fails, it expires. */
  #leave(): Promise<void> {
    this.#stream?.end();
    this.#stream = undefined;
    return new Promise((resolve) => {
      this.stub.DeleteSession({ sessionId: this.session.id }, this.metadata, () => resolve());
    });
  }
}

/** @param start free of intersections */
function createSession(stub: Stub, metadata: Metadata, creation: Creation, start: Positions): Promise<CreatedSession> {
  // A creation whose answer was lost is sent again under the same key, and makes one session.
  const request = { ...creation, start, idempotencyKey: randomUUID() };
  return sendAgain(() => call<CreatedSession>((done) => stub.CreateSession(request, metadata, done)));
}

/** Sends a request until it is answered, as often as {@link pauseAfter} permits. */
async function sendAgain<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const pause = pauseAfter(attempt, error);
      if (pause === undefined) throw error;
      await wait(pause);
    }
  }
}

/** Makes a call with one answer. @throws LostError if the connection was lost */
const call = <T>(send: (done: (error: ServiceError | null, answer: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => send((error, answer) => (error ? reject(lostOr(error)) : resolve(answer))));

const lostOr = (error: ServiceError): Error =>
  LOST.has(error.code) ? new LostError(error.message, { cause: error }) : error;

/** ms until the same request is sent again; undefined = it is not sent again */
function pauseAfter(attempt: number, error: unknown): number | undefined {
  const doubled = RECONNECT_MS * 2 ** (attempt - 1);
  if (error instanceof LostError) return attempt < ATTEMPTS ? doubled : undefined;
  if (!(error instanceof RefusedError) || !error.refusal.retryable || attempt >= PATIENCE) return undefined;
  const { retryAfter } = error.refusal;
  const named = retryAfter ? 1000 * retryAfter.seconds + retryAfter.nanos / 1e6 : 0;
  return Math.max(named, Math.min(doubled, LONGEST_PAUSE_MS));
}

function readPositions({ data, scalar }: Positions): Float64Array {
  const { buffer } = Uint8Array.from(data);
  return scalar === 'FLOAT64' ? new Float64Array(buffer) : Float64Array.from(new Float32Array(buffer));
}

function readAnswer({ positions, contacts, report, path }: StepMessage): Answer {
  const own = readPositions(positions);
  return {
    positions: own,
    contacts: contacts ? readContacts(contacts) : NO_CONTACTS,
    report,
    ...(path ? { path: readStates(readPositions(path.positions), own.length) } : {}),
  };
}

const readStates = (all: Float64Array, length: number): Float64Array[] =>
  Array.from({ length: all.length / length }, (_, i) => all.subarray(i * length, (i + 1) * length));

const bytesOf = (array: Uint32Array | Float32Array | Float64Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

const positionsOf = (x: Float64Array, scalar: Scalar): Positions => ({
  data: bytesOf(scalar === 'FLOAT32' ? Float32Array.from(x) : x),
  scalar,
});
