import { ERRORS, type ErrorCode } from '../../src/contract/errors.js';

/** One answer of the HTTP door, as it came on the socket. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Refusals that would be a fault of the service here: it is not draining, and it has no device. */
const FAULTS: ReadonlySet<string> = new Set<ErrorCode>(['INTERNAL', 'DRAINING', 'DEVICE_LOST', 'OUT_OF_DEVICE_MEMORY']);

/** What is wrong with an answer to malformed input; undefined when it is a result or a typed refusal. */
export function objectionTo({ status, headers, body }: HttpAnswer): string | undefined {
  if (status < 400) return undefined;
  const said = `${status} ${body.toString('latin1').slice(0, 300)}`;
  if (!headers['content-type']?.startsWith('application/problem+json')) return `no problem document: ${said}`;
  let code: string;
  try {
    ({ code } = JSON.parse(body.toString()) as { code: string });
  } catch {
    return `a problem document that is no JSON: ${said}`;
  }
  if (!(code in ERRORS)) return `an unknown code: ${said}`;
  if (FAULTS.has(code)) return `a fault of the service: ${said}`;
  return ERRORS[code as ErrorCode].http === status ? undefined : `a status that ${code} does not have: ${said}`;
}

export const codeOf = ({ status, body }: HttpAnswer): string =>
  status < 400 ? String(status) : (/"code":"(\w+)"/.exec(body.toString('latin1'))?.[1] ?? String(status));

/** Splits the bytes of a socket into answers; `rest` is what is no complete answer. */
export function parseAnswers(bytes: Buffer): { answers: HttpAnswer[]; rest: Buffer } {
  const answers: HttpAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
    if (end < 0 || !status) return { answers, rest };
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const content = rest.subarray(end + 4);
    const read = headers['transfer-encoding'] === 'chunked' ? readChunks(content) : readLength(content, headers);
    if (!read) return { answers, rest };
    const { body, length } = read;
    // 100 Continue is not the answer.
    if (status >= 200) answers.push({ status, headers, body });
    rest = rest.subarray(end + 4 + length);
  }
}

interface Content {
  readonly body: Buffer;
  /** bytes that it took on the socket */
  readonly length: number;
}

function readLength(content: Buffer, headers: Readonly<Record<string, string>>): Content | undefined {
  const length = Number(headers['content-length'] ?? '0');
  return content.length < length ? undefined : { body: content.subarray(0, length), length };
}

function readChunks(content: Buffer): Content | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = content.indexOf('\r\n', at);
    const size = Number.parseInt(content.subarray(at, Math.max(line, at)).toString('latin1'), 16);
    const next = line + 2 + size + 2;
    if (line < 0 || Number.isNaN(size) || next > content.length) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), length: next };
    chunks.push(content.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
