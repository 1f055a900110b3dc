import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Positions } from '../../../src/contract/mesh.js';

/**
 * The states that the service wrote for one request under INTERSTICE_TRACE, start first, answer last; the folder is
 * removed. It is read here with separate code: only the rows of vertices matter, and they come first.
 *
 * @returns undefined if there is no trace of that request
 */
export function takeTrace(folder: string, requestId: string): Positions[] | undefined {
  const path = join(folder, requestId);
  if (!existsSync(path)) return undefined;
  const states = readdirSync(path)
    .filter((name) => name.endsWith('.ply'))
    .sort()
    .map((name) => readVertices(readFileSync(join(path, name))));
  rmSync(path, { recursive: true, force: true });
  return states;
}

export function readVertices(file: Buffer): Positions {
  const end = file.indexOf('end_header\n');
  const header = file.subarray(0, end).toString('latin1');
  const count = Number(header.match(/element vertex (\d+)/)?.[1]);
  const kind = header.match(/property (float|double)\w* x/)?.[1];
  if (end === -1 || !header.includes('binary_little_endian') || kind === undefined)
    throw new Error('Not a state of a trace.');
  const first = end + 'end_header\n'.length;
  const read = kind === 'double' ? (o: number) => file.readDoubleLE(o) : (o: number) => file.readFloatLE(o);
  const width = kind === 'double' ? 8 : 4;
  const x = kind === 'double' ? new Float64Array(3 * count) : new Float32Array(3 * count);
  for (let i = 0; i < x.length; i++) x[i] = read(first + width * i);
  return x;
}
