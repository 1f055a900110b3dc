import { join } from 'node:path';
import { algorithmVersion, packageVersion, projectRoot } from '../src/paths.js';
import type { Machine } from './machine.js';
import { writeWhole } from './whole-file.js';

/** Returns a name that sorts by time: 2026-11-21-0312-cpu.json, in UTC. */
export const resultFile = (kind: string): string => {
  const [day, time] = new Date().toISOString().split('T');
  return join(projectRoot, 'bench', 'results', `${day}-${time.slice(0, 5).replace(':', '')}-${kind}.json`);
};

/** @param content the run and its results */
export function writeResult(file: string, machine: Machine, content: object): void {
  const head = { date: new Date().toISOString(), version: packageVersion, algorithmVersion };
  writeWhole(file, `${layOut({ ...head, machine, ...content })}\n`);
}

/** JSON in which an object or array of plain values is on one line. */
export function layOut(value: object, indent = ''): string {
  const isList = Array.isArray(value);
  const entries = Object.entries(value).filter(([, item]) => isList || item !== undefined);
  const isNested = (item: unknown): item is object => typeof item === 'object' && item !== null;
  if (!entries.some(([, item]) => isNested(item))) return JSON.stringify(value);
  const within = `${indent}  `;
  const lines = entries.map(([key, item]) => {
    const text = isNested(item) ? layOut(item, within) : (JSON.stringify(item) ?? 'null');
    return within + (isList ? text : `${JSON.stringify(key)}: ${text}`);
  });
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
