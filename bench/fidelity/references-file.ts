import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { algorithmVersion, projectRoot } from '../../src/paths.js';
import { writeWhole } from '../whole-file.js';
import type { Reference } from './reference.js';

/** References take minutes, so they are committed. */
const FILE = join(projectRoot, 'bench', 'results', 'fidelity-reference.json');

export const REFERENCES_COMMAND = 'npm run bench -- --suite fidelity --reference';

interface References {
  readonly command: string;
  /** algorithm version of the steps that found them */
  readonly algorithmVersion: string;
  readonly scenes: Readonly<Record<string, Reference>>;
}

/** References by scene; empty if there is no file. */
export function readReferences(): Readonly<Record<string, Reference>> {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as References).scenes : {};
}

/** Replaces the references of these scenes and keeps the others. @returns the file */
export function writeReferences(found: Readonly<Record<string, Reference>>): string {
  const all = { ...readReferences(), ...found };
  const scenes = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  const references: References = { command: REFERENCES_COMMAND, algorithmVersion, scenes };
  writeWhole(FILE, `${JSON.stringify(references, null, 2)}\n`);
  return FILE;
}
