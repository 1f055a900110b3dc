import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../folders.js';
import type { Finding } from '../jobs/finding.js';
import { bytesOf } from '../mesh/bytes.js';
import type { Log, Observation } from './observation.js';

/** Where findings are written unless the operator names a folder. */
function defaultFindingsFolder(): string {
  return join(tmpdir(), 'interstice-findings');
}

/**
 * Limits on the number of reproductions that a process writes, and on their bytes. A fault that repeats with every
 * frame, or a caller who has found an input that causes one, must not fill the disk. The first ones are as informative
 * as all.
 */
export const MAX_REPRODUCTIONS = 100;
const MAX_REPRODUCTION_BYTES = 2 ** 30;

/** Reports every finding to the observer and to the log, and writes a folder with everything that reproduces it, for the first ones. */
export class FindingsRecorder {
  /** reproductions that are being written: closing waits for them */
  private readonly writing = new Set<Promise<void>>();
  private written = 0;
  private writtenBytes = 0;

  constructor(
    private readonly observation: Observation,
    private readonly log: Log | undefined,
    private readonly folder: string | undefined,
  ) {}

  record(finding: Finding): void {
    const { log } = this;
    const { kind, engine, message } = finding;
    this.observation.emit({ type: 'finding', kind, engine });
    const event = { level: 'error', event: 'finding', kind, engine };
    const text = `${message} The answer was not sent.`;
    const bytes = bytesOf(finding);
    if (this.written === MAX_REPRODUCTIONS || this.writtenBytes + bytes > MAX_REPRODUCTION_BYTES) {
      const before = `${this.written} reproductions of ${this.writtenBytes} bytes`;
      log?.(event, `${text} The reproduction is not written, because this process has already written ${before}.`);
      return;
    }
    this.written++;
    this.writtenBytes += bytes;
    const write = writeFinding(finding, this.folder).then(
      (folder) => log?.({ ...event, folder }, `${text} The reproduction is in ${folder}.`),
      (reason: unknown) => log?.({ ...event, err: reason }, `${text} The reproduction could not be written.`),
    );
    this.writing.add(write);
    void write.finally(() => this.writing.delete(write));
  }

  async flush(): Promise<void> {
    await Promise.all(this.writing);
  }
}

/**
 * Writes everything that reproduces a finding into a new folder: `finding.json`, and each array as a raw file beside it
 * (row-major, in this machine's byte order, which the JSON names). The JSON refers to an array as
 * `{"file": …, "type": "Float32Array", "length": …}`.
 *
 * @returns the new folder
 * @throws errors of the file system; no folder is left then
 */
export async function writeFinding(finding: Finding, parent = defaultFindingsFolder()): Promise<string> {
  // Only the owner may read: the folder holds a caller's geometry.
  makeFolder(parent, 0o700);
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  // The random suffix of mkdtemp separates two findings of the same millisecond.
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
  try {
    for (const { name, array } of files) {
      await writeFile(join(folder, name), new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    }
    await writeFile(join(folder, 'finding.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  } catch (error) {
    // Half a reproduction (the disk is full) reproduces nothing, and keeps the disk full.
    await rm(folder, { recursive: true });
    throw error;
  }
  return folder;
}

const BYTE_ORDER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 'little-endian' : 'big-endian';
