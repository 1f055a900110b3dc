import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IntersticeError } from '../../contract/errors.js';
import type { MeshLimits } from '../../contract/mesh.js';
import { guessFormat, type MeshFile, readMesh } from '../../mesh/files/index.js';
import type { WireMessage } from '../json/wire.js';
import { abortOnHangUp } from './disconnect.js';
import { tooLarge } from './errors.js';

/** One mesh file of a form, with the name it was sent under. */
export interface NamedMesh {
  readonly name: string;
  readonly file: MeshFile;
}

export interface Form<G extends string> {
  /** by group, in the order they came */
  readonly files: Readonly<Record<G, readonly NamedMesh[]>>;
  /** the `Options` of the form; empty when there were none. @throws what is wrong with them as a message */
  readonly options: () => WireMessage;
}

/** Of the whole form in bytes, and of every single mesh. */
export interface FormLimits extends MeshLimits {
  readonly maxMessageBytes: number;
}

/** Files of one group: more is no mesh cut into pieces but a mistake. */
const MAX_FILES = 256;

/**
 * Reads a form while it arrives: every file goes through its reader chunk by chunk and is never held as a whole.
 * @param groups accepted names of the parts, and the group that each belongs to
 * @throws UNKNOWN_FIELD (a part that is not taken, or one too many), TOO_LARGE, MALFORMED_BODY, CANCELLED, and what
 *   the mesh readers throw
 */
export async function readForm<G extends string>(
  request: FastifyRequest,
  reply: FastifyReply,
  groups: Readonly<Record<string, G>>,
  limits: FormLimits,
): Promise<Form<G>> {
  const maxBytes = limits.maxMessageBytes;
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(announced, maxBytes);
  const files: Record<string, NamedMesh[]> = {};
  for (const group of Object.values(groups)) files[group] = [];
  const meter = new Meter(maxBytes);
  let options: (() => WireMessage) | undefined;
  try {
    for await (const part of partsOf(request, maxBytes)) {
      // A disposition that cannot be read has no name, whatever the type says.
      const fieldName: string | undefined = part.fieldname;
      if (fieldName === undefined) throw new IntersticeError('MALFORMED_BODY', 'A part of the form has no name.');
      const name = groupNameOf(fieldName);
      if (name === 'options') {
        if (options !== undefined) throw new IntersticeError('UNKNOWN_FIELD', 'options was sent twice.');
        if (part.type !== 'file') throw new Error('the part options was read as a field');
        options = await readOptionsPart(part, meter, request, reply);
        continue;
      }
      const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
      const list = group === undefined ? undefined : files[group];
      if (!list) {
        const known = [...Object.keys(groups), 'options'].join(', ');
        throw new IntersticeError('UNKNOWN_FIELD', `The form has a part ${JSON.stringify(name.slice(0, 100))}.`, {
          hint: `Parts taken here: ${known}.`,
        });
      }
      if (part.type !== 'file') {
        throw new IntersticeError('MALFORMED_BODY', `The part ${name} is no file.`, {
          hint: `Send it with a file name, as curl does for -F ${name}=@mesh.obj.`,
        });
      }
      if (list.length === MAX_FILES) {
        throw new IntersticeError('UNKNOWN_FIELD', `The form has more than ${MAX_FILES} ${name} files.`);
      }
      list.push({ name: part.filename, file: await readMeshPart(part, meter, limits) });
    }
  } catch (error) {
    // What is still to come is of no use: let it run out instead of holding the connection full.
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  }
  return { files: files as Record<G, NamedMesh[]>, options: options ?? (() => ({})) };
}

/** `start[]` is what some libraries make of a second file of one name. */
const groupNameOf = (fieldName: string): string => fieldName.replace(/\[\]$/, '');

/** Bytes of all parts together. */
class Meter {
  #seen = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: number): void {
    this.#seen += bytes;
    if (this.#seen > this.#limit) throw tooLarge(undefined, this.#limit);
  }
}

/** The parts, with the parser's own refusals in our words. */
async function* partsOf(request: FastifyRequest, maxBytes: number) {
  const parts = request.parts({
    // The meter counts all parts together; the parser's own limits only keep fields out of memory.
    limits: { fileSize: Number.POSITIVE_INFINITY, fieldSize: maxBytes, fields: 8, parts: 2 * MAX_FILES + 8 },
    // Options come as bytes, however they are labelled: the parser would read those that say JSON at once, on this thread.
    isPartAFile: (fieldName, type, fileName) =>
      type === 'application/octet-stream' || fileName !== undefined || groupNameOf(fieldName ?? '') === 'options',
  });
  for (;;) {
    const next = await parts.next().catch((cause: unknown) => refuseForm(cause));
    if (next.done) return;
    yield next.value;
  }
}

async function* chunksOf(part: MultipartFile, meter: Meter): AsyncGenerator<Uint8Array> {
  const chunks = part.file[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch((cause: unknown) => refuseForm(cause));
    if (next.done) return;
    const chunk = next.value as Uint8Array;
    meter.add(chunk.byteLength);
    yield chunk;
  }
}

function refuseForm(cause: unknown): never {
  const { code, message } = cause as { code?: string; message?: string };
  if (code === 'FST_MP_PREMATURE_CLOSE') {
    throw new IntersticeError('CANCELLED', 'The caller hung up before the form was complete.', { cause });
  }
  if (code === 'FST_PARTS_LIMIT' || code === 'FST_FIELDS_LIMIT' || code === 'FST_PROTO_VIOLATION') {
    throw new IntersticeError('UNKNOWN_FIELD', 'The form has parts that are not taken here.', { cause });
  }
  const what = code === 'FST_INVALID_JSON_FIELD_ERROR' ? 'options is not valid JSON' : (message ?? 'unknown error');
  throw new IntersticeError('MALFORMED_BODY', `The form cannot be read: ${what}.`, { cause });
}

/** @throws MALFORMED_BODY for what is no JSON; what else is wrong is said when the options are asked for */
async function readOptionsPart(
  part: MultipartFile,
  meter: Meter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<() => WireMessage> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(part, meter)) chunks.push(chunk);
  const asker = { tenant: request.caller?.tenant, signal: abortOnHangUp(reply) };
  const text = { type: 'Options', bytes: Buffer.concat(chunks), what: 'options', path: 'options', takesNull: true };
  const reading = await request.server.jsonCoder.read(text, asker);
  if ('decoded' in reading) return () => reading.decoded.message;
  if (!reading.isJson) throw reading.refusal;
  return () => {
    throw reading.refusal;
  };
}

async function readMeshPart(part: MultipartFile, meter: Meter, limits: MeshLimits): Promise<MeshFile> {
  const chunks = chunksOf(part, meter);
  const first = await chunks.next();
  const head: Uint8Array = first.done ? new Uint8Array(0) : first.value;
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    yield* chunks;
  };
  try {
    return await readMesh(whole(), guessFormat(part.filename) ?? sniffFormat(head), limits);
  } catch (thrown) {
    if (!(thrown instanceof IntersticeError) || NOT_THE_FILE.has(thrown.code)) throw thrown;
    const { code, message, details } = thrown.toPlain();
    const name = JSON.stringify(part.filename.slice(0, 100));
    throw new IntersticeError(code, `${part.fieldname} ${name}: ${message}`, { ...details, cause: thrown });
  }
}

/** Refusals of the request as a whole, which a file's name would only confuse. */
const NOT_THE_FILE: ReadonlySet<string> = new Set(['CANCELLED', 'INTERNAL']);

/** A PLY says so in its first line; an OBJ has no such mark, so it is what remains. */
export function sniffFormat(head: Uint8Array): 'obj' | 'ply' {
  return /^ply\r?[\n\r]/.test(Buffer.from(head.subarray(0, 5)).toString('latin1')) ? 'ply' : 'obj';
}
