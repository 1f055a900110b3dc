import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { MeshInput, MeshLimits } from '../../contract/mesh.js';
import { quote } from '../../contract/quote.js';
import {
  assertSameTopology,
  concatenate,
  errorOfFile,
  guessFormat,
  type MeshFile,
  type MeshFormat,
  otherEnding,
  readMesh,
  toMeshInput,
} from '../../mesh/files/index.js';
import { assertWithinLimits } from '../../mesh/limits.js';
import { bulkBytes } from '../in-slices.js';
import type { Arrival } from '../intake/arrival.js';
import type { WireMessage } from '../messages/wire-message.js';
import { arrivalOf } from './bodies.js';
import { signalOf } from './call-context.js';
import { type BodyLimits, jsonLimitOf, tooLarge, tooLargeOptions } from './errors.js';
import { watchParts } from './unread-parts.js';

/** One mesh file of a form, with its file name; the name is empty if the part has none. */
export interface NamedMesh {
  readonly name: string;
  readonly file: MeshFile;
}

export interface Form<G extends string> {
  /** Files of each group in the order of the form. */
  readonly files: Readonly<Record<G, readonly NamedMesh[]>>;
  /** The `Options` of the form; empty if it has none. @throws IntersticeError if they are not a valid message */
  readonly options: () => WireMessage;
}

/** Limits of the whole form and of its JSON in bytes, and of each mesh. */
export interface FormLimits extends MeshLimits, BodyLimits {}

/** Largest number of files in a group. */
const MAX_FILES = 256;

/**
 * Reads a form while it arrives. Files are parsed chunk by chunk and never stored as a whole.
 * @param groups the group of each accepted part name
 * @throws UNKNOWN_FIELD (an unknown part, or too many), TOO_LARGE, MALFORMED_BODY, CANCELLED, and the errors of the
 *   mesh readers
 */
export async function readForm<G extends string>(
  request: FastifyRequest,
  reply: FastifyReply,
  groups: Readonly<Record<string, G>>,
  limits: FormLimits,
): Promise<Form<G>> {
  const maxBytes = limits.maxMessageBytes;
  const arrival = arrivalOf(request);
  const files: Record<string, NamedMesh[]> = {};
  for (const group of Object.values(groups)) files[group] = [];
  const watch = new FormWatch(maxBytes, arrival);
  let options: (() => WireMessage) | undefined;
  try {
    for await (const part of partsOf(request, watch)) {
      // undefined for an unreadable content-disposition, despite the declared type.
      const fieldName: string | undefined = part.fieldname;
      if (fieldName === undefined) throw unnamedPart();
      const name = groupNameOf(fieldName);
      if (name === 'options') {
        if (options !== undefined)
          throw new IntersticeError('UNKNOWN_FIELD', 'The form has more than one options part.', {
            hint: 'Send all options in one part, as one JSON object.',
          });
        if (part.type !== 'file') throw new Error('The options part was parsed as a field.');
        options = await readOptionsPart(part, watch, jsonLimitOf(limits), request, reply);
        continue;
      }
      const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
      const list = group === undefined ? undefined : files[group];
      if (!list) {
        const known = [...Object.keys(groups), 'options'].join(', ');
        throw new IntersticeError('UNKNOWN_FIELD', `The form has an unknown part ${quote(name)}.`, {
          hint: `Known parts: ${known}.`,
        });
      }
      if (part.type !== 'file') {
        throw new IntersticeError('MALFORMED_BODY', `The part ${name} is not a file.`, {
          hint: `Send it with a file name, as curl does for -F ${name}=@mesh.obj.`,
        });
      }
      if (list.length === MAX_FILES) {
        throw new IntersticeError('UNKNOWN_FIELD', `The form has more than ${MAX_FILES} ${name} files.`, {
          hint: 'Join some of the files, or send the mesh as JSON or protobuf.',
        });
      }
      // undefined where the part has none, despite the declared type; then the place of the file identifies it.
      const fileName = decodeFileName(part.filename);
      const label = fileName === undefined ? `${name}[${list.length}]` : `${name} ${quote(fileName)}`;
      const file = await readMeshPart(part, { fileName, label }, watch, limits);
      watch.keep(bulkBytes(file) + (file.sources ?? []).reduce((sum, source) => sum + source.bytes, 0));
      list.push({ name: fileName ?? '', file });
      assertGroupWithinLimits(list, limits);
    }
  } catch (error) {
    // Discard the rest of the body, so that the connection is not blocked.
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  } finally {
    watch.end();
  }
  return { files: files as Record<G, NamedMesh[]>, options: options ?? (() => ({})) };
}

/** The files of a group are one mesh: it is refused at the first file that makes it too large. @throws TOO_LARGE */
function assertGroupWithinLimits(group: readonly NamedMesh[], limits: MeshLimits): void {
  const sum = (count: (file: MeshFile) => number) => group.reduce((total, { file }) => total + count(file), 0);
  const elements = sum(
    ({ triangles, segments, particles }) => triangles.length / 3 + segments.length / 2 + particles.length,
  );
  assertWithinLimits(
    sum(({ vertexCount }) => vertexCount),
    elements,
    limits,
    false,
  );
}

/**
 * The name as the caller's file has it. Clients that follow the HTML standard (multipart/form-data encoding algorithm) write a
 * quotation mark and the ends of lines like this, and escape nothing else.
 */
const decodeFileName = (name: string | undefined): string | undefined =>
  name?.replace(/%(22|0D|0A)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const unnamedPart = () =>
  new IntersticeError('MALFORMED_BODY', 'A part of the form has no name.', {
    hint: 'Every part begins with a line such as: content-disposition: form-data; name="start"; filename="start.obj"',
  });

/** Some libraries send several files with the same name as `start[]`. */
const groupNameOf = (fieldName: string): string => fieldName.replace(/\[\]$/, '');

/**
 * Limits the bytes of a form, charges them to the body, and ends the wait for parts that do not arrive. Like those of any other
 * body, its bytes are all that arrive, and not only the contents of its parts: a form without an announced size is refused
 * where one with an announced size is. What arrives after the last part is discarded and does not count.
 */
class FormWatch {
  #seen = 0;
  #kept = 0;
  #isEnded = false;
  #refusal: unknown;
  readonly #limit: number;
  readonly #arrival: Arrival | undefined;
  readonly #refused: Promise<never>;
  #refuse: (reason: unknown) => void = () => {};

  constructor(limit: number, arrival: Arrival | undefined) {
    this.#limit = limit;
    this.#arrival = arrival;
    this.#refused = new Promise((_, reject) => {
      this.#refuse = (reason) => {
        this.#refusal ??= reason;
        reject(reason);
      };
    });
    this.#refused.catch(() => {});
    arrival?.start(this.#refuse);
  }

  /** Called with every chunk of the body, by its stream: never throws. */
  receive(bytes: number): void {
    if (this.#isEnded || this.#refusal !== undefined) return;
    this.#seen += bytes;
    try {
      if (this.#seen > this.#limit) throw tooLarge(undefined, this.#limit);
      this.#arrival?.receive(bytes);
    } catch (reason) {
      this.#refuse(reason);
    }
  }

  /** All parts have been read, or the form is refused. */
  end(): void {
    this.#isEnded = true;
    this.#arrival?.end();
  }

  /** Charges a file that is being read beside those before it: its arrays may be larger than its text, part of which is kept as well. @throws QUEUE_FULL */
  hold(bytes: number): void {
    this.#arrival?.account.growTo(this.#kept + bytes);
  }

  /** Charges a file that was read. @throws QUEUE_FULL */
  keep(bytes: number): void {
    this.hold(bytes);
    this.#kept += bytes;
  }

  /**
   * The next part or chunk.
   *
   * @throws TOO_LARGE, QUEUE_FULL, MALFORMED_BODY (none arrives in time), and converted errors of the parser
   */
  async inTime<T>(next: Promise<T>): Promise<T> {
    const value = await Promise.race([next.catch(refuseForm), this.#refused]);
    // The parser may have had the last part ready before.
    if (this.#refusal !== undefined) throw this.#refusal;
    return value;
  }
}

/** The parts of the form; errors of the parser are converted. */
async function* partsOf(request: FastifyRequest, watch: FormWatch) {
  const droppedBeside = watchParts(request.raw, (bytes) => watch.receive(bytes));
  let named = 0;
  const parts = request.parts({
    // FormWatch counts all parts together. A field that is not a file is refused whatever it contains.
    limits: { fileSize: Number.POSITIVE_INFINITY, fieldSize: 1024, fields: 8, parts: 2 * MAX_FILES + 8 },
    // Options are read as bytes whatever their type is: the parser would parse JSON at once, on this thread.
    isPartAFile: (fieldName, type, fileName) => {
      named++;
      return (
        type === 'application/octet-stream' || fileName !== undefined || groupNameOf(fieldName ?? '') === 'options'
      );
    },
  });
  for (;;) {
    const next = await watch.inTime(parts.next());
    if (next.done) {
      if (droppedBeside(named) > 0) throw unnamedPart();
      return;
    }
    yield next.value;
  }
}

async function* chunksOf(part: MultipartFile, watch: FormWatch): AsyncGenerator<Uint8Array> {
  const chunks = part.file[Symbol.asyncIterator]();
  for (;;) {
    const next = await watch.inTime(chunks.next());
    if (next.done) return;
    yield next.value as Uint8Array;
  }
}

function refuseForm(cause: unknown): never {
  const { code, message } = cause as { code?: string; message?: string };
  if (code === 'FST_MP_PREMATURE_CLOSE') {
    throw new IntersticeError('CANCELLED', 'The caller disconnected before the form was complete.', { cause });
  }
  if (code === 'FST_PARTS_LIMIT' || code === 'FST_FIELDS_LIMIT' || code === 'FST_PROTO_VIOLATION') {
    throw new IntersticeError('UNKNOWN_FIELD', 'The form has unknown parts.', { cause });
  }
  const what = code === 'FST_INVALID_JSON_FIELD_ERROR' ? 'options is not valid JSON' : (message ?? 'unknown error');
  throw new IntersticeError('MALFORMED_BODY', `The form cannot be read: ${what}.`, { cause });
}

/**
 * @param limit in bytes
 * @throws TOO_LARGE, and MALFORMED_BODY for invalid JSON; other errors are thrown when the result is called
 */
async function readOptionsPart(
  part: MultipartFile,
  watch: FormWatch,
  limit: number,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<() => WireMessage> {
  const chunks: Uint8Array[] = [];
  let byteLength = 0;
  for await (const chunk of chunksOf(part, watch)) {
    byteLength += chunk.byteLength;
    if (byteLength > limit) throw tooLargeOptions(limit);
    chunks.push(chunk);
  }
  const client = { tenant: request.caller?.tenant, signal: signalOf(reply) };
  const text = { type: 'Options', bytes: Buffer.concat(chunks), what: 'options', path: 'options', acceptsNull: true };
  const reading = await request.server.jsonCoder.read(text, client);
  if ('decoded' in reading) return () => reading.decoded.message;
  if (!reading.isJson) throw reading.error;
  return () => {
    throw reading.error;
  };
}

/** @param label names the file in the message of an error */
async function readMeshPart(
  part: MultipartFile,
  { fileName = '', label }: { readonly fileName: string | undefined; readonly label: string },
  watch: FormWatch,
  limits: MeshLimits,
): Promise<MeshFile> {
  const chunks = chunksOf(part, watch);
  let head: Uint8Array = new Uint8Array(0);
  // A chunk may end within the bytes that tell the format.
  while (head.byteLength < MARK_BYTES) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    yield* chunks;
  };
  try {
    return await readMesh(whole(), formatOfPart(fileName, head), limits, (bytes) => watch.hold(bytes));
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError) || REQUEST_ERRORS.has(thrown.code)) throw thrown;
    throw errorOfFile(label, thrown);
  }
}

/** Errors that concern the whole request, not one file. */
const REQUEST_ERRORS: ReadonlySet<string> = new Set(['CANCELLED', 'INTERNAL']);

/** @throws UNSUPPORTED_MEDIA_TYPE for a file of another format, by its name or its first bytes */
function formatOfPart(fileName: string, head: Uint8Array): MeshFormat {
  const format = guessFormat(fileName);
  if (format) return format;
  const other = otherEnding(fileName) ?? (isBinaryGltf(head) ? 'glb' : undefined);
  if (other === undefined) return sniffFormat(head);
  throw new IntersticeError('UNSUPPORTED_MEDIA_TYPE', `this is a .${other} file, and a form takes OBJ and PLY files.`, {
    hint: OTHER_FORMAT_HINT,
  });
}

const OTHER_FORMAT_HINT =
  'Export the mesh as .ply or .obj, which keep the order of its vertices. The command line and the page also read .glb and .gltf.';

const isBinaryGltf = (head: Uint8Array): boolean => Buffer.from(head.subarray(0, 4)).toString('latin1') === 'glTF';

/** Bytes at the beginning of a file that tell its format: a byte order mark, "ply" and the end of the line. */
const MARK_BYTES = 8;

/** A PLY file starts with a line "ply"; an OBJ file has no such mark, so it is the default. */
function sniffFormat(head: Uint8Array): MeshFormat {
  const mark = Buffer.from(head.subarray(0, MARK_BYTES)).toString('latin1');
  return /^(?:\xef\xbb\xbf)?ply[\n\r]/.test(mark) ? 'ply' : 'obj';
}

/** The files of a form as one mesh, in the order of the form. */
export interface FormMeshes {
  readonly start: MeshFile;
  readonly target: MeshFile | undefined;
  readonly parts: readonly { readonly name: string; readonly firstVertex: number; readonly vertexCount: number }[];
}

/**
 * @param names names of the two groups for error messages
 * @throws MALFORMED_BODY if files are missing; INVALID_MESH and SIZE_MISMATCH if a target does not match its start
 */
export function joinMeshes(
  starts: readonly NamedMesh[],
  targets: readonly NamedMesh[],
  names: { readonly start: string; readonly target: string; readonly isTargetRequired: boolean },
): FormMeshes {
  if (starts.length === 0) {
    throw new IntersticeError('MALFORMED_BODY', `The form has no ${names.start} file.`, {
      hint: `Send one, as curl does for -F ${names.start}=@mesh.obj.`,
    });
  }
  const isTargetAbsent = !names.isTargetRequired && targets.length === 0;
  if (!isTargetAbsent && targets.length !== starts.length) {
    throw new IntersticeError(
      'MALFORMED_BODY',
      `The form has ${starts.length} ${names.start} and ${targets.length} ${names.target} files; send as many of each.`,
    );
  }
  for (const [i, { file }] of targets.entries()) assertSameTopology(starts[i]!.file, file, names);
  const { file: start, ranges } = concatenate(starts.map(({ file }) => file));
  return {
    start,
    target: isTargetAbsent ? undefined : concatenate(targets.map(({ file }) => file)).file,
    parts: ranges.map((range, i) => ({ name: starts[i]!.name, ...range })),
  };
}

export function withKinematic(file: MeshFile, kinematic: Uint8Array | undefined): MeshInput {
  const mesh = toMeshInput(file);
  return kinematic ? { ...mesh, kinematic } : mesh;
}
