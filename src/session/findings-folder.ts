import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../jobs/finding.js';

/** Where findings go unless the operator says otherwise. */
export function defaultFindingsFolder(): string {
  return join(tmpdir(), 'interstice-findings');
}

/**
 * Writes what is needed to see a finding again into a new folder: `finding.json`, and every array as a raw file beside it
 * (row-major, this machine's byte order, which the JSON names). An array stands in the JSON as
 * `{"file": …, "type": "Float32Array", "length": …}`.
 *
 * @returns the new folder
 */
export async function writeFinding(finding: Finding, parent = defaultFindingsFolder()): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  // mkdtemp's random suffix: two findings in one millisecond do not meet. A caller's geometry is nobody else's business.
  const folder = await mkdtemp(join(parent, `${stamp}-`));
  const files: { name: string; array: ArrayBufferView }[] = [];
  const describe = (value: unknown, path: string): unknown => {
    if (ArrayBuffer.isView(value)) {
      const name = `${path}.bin`;
      files.push({ name, array: value });
      return { file: name, type: value.constructor.name, length: 'length' in value ? value.length : value.byteLength };
    }
    if (Array.isArray(value)) return value.map((item, k) => describe(item, `${path}-${k}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, describe(part, path === '' ? key : `${path}-${key}`)]),
    );
  };
  const manifest = { byteOrder: BYTE_ORDER, node: process.version, ...(describe(finding, '') as object) };
  for (const { name, array } of files) {
    await writeFile(join(folder, name), new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }
  await writeFile(join(folder, 'finding.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}

const BYTE_ORDER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 'little-endian' : 'big-endian';
