import { readFile } from 'node:fs/promises';
import { IntersticeError } from '../contract/errors.js';
import { UsageError } from './exit-codes.js';
import { openingFailure } from './input-files.js';

/**
 * Reads a list of kinematic vertices: one id or one range `first-last` (both included) a line, `#` starts a comment.
 *
 * @param marks uint8[V]; the vertices listed are set to 1, all others are left as they are
 * @throws MALFORMED_BODY for a line that is neither, INDEX_OUT_OF_RANGE for an id ≥ V; both name the line
 */
export function markKinematicList(text: string, name: string, marks: Uint8Array): void {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  lines.forEach((line, index) => {
    const content = line.replace(/#.*/, '').trim();
    if (content !== '') markRange(content, `${name}, line ${index + 1}`, marks);
  });
}

function markRange(content: string, where: string, marks: Uint8Array): void {
  const match = /^(\d+)(?:\s*-\s*(\d+))?$/.exec(content);
  if (match === null) {
    throw new IntersticeError('MALFORMED_BODY', `${where}: "${content}" is neither a vertex id nor a range.`, {
      hint: 'Write one id (17) or one range (100-250, both ends included) a line; # starts a comment.',
    });
  }
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Number(match[2]);
  if (last < first) {
    throw new IntersticeError('MALFORMED_BODY', `${where}: the range ${content} ends before it begins.`, {
      hint: `Write ${last}-${first}.`,
    });
  }
  if (last >= marks.length) {
    throw new IntersticeError(
      'INDEX_OUT_OF_RANGE',
      `${where}: vertex ${last} does not exist; the mesh has ${marks.length} vertices, 0 to ${marks.length - 1}.`,
      { element: { kind: 'vertex', index: last, vertices: [last] } },
    );
  }
  marks.fill(1, first, last + 1);
}

/** {@link markKinematicList} on a file. */
export async function markKinematicFile(path: string, marks: Uint8Array): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const failure = openingFailure(error, path);
    if (!(failure instanceof UsageError) || !/^\d+([-:,]\d*)*$/.test(path)) throw failure;
    throw new UsageError(
      `${failure.message} --kinematic takes a file that lists ids or ranges a line; --kinematic-from N marks every vertex from N on.`,
      failure.command,
    );
  });
  markKinematicList(text, path, marks);
}

/** Ids of the marked vertices, ascending. */
export function listKinematic(marks: Uint8Array): number[] {
  const ids: number[] = [];
  marks.forEach((mark, vertex) => {
    if (mark !== 0) ids.push(vertex);
  });
  return ids;
}
