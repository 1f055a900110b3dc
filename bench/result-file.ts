import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { algorithmVersion, packageVersion, projectRoot } from '../src/paths.js';
import type { Machine } from './machine.js';

/** A name that sorts by time: 2026-11-21-0312-cpu.json, in UTC. */
export const resultFile = (kind: string): string => {
  const [day, time] = new Date().toISOString().split('T');
  return join(projectRoot, 'bench', 'results', `${day}-${time.slice(0, 5).replace(':', '')}-${kind}.json`);
};

/** @param content what was run, and what came of it */
export function writeResult(file: string, machine: Machine, content: object): void {
  const head = { date: new Date().toISOString(), version: packageVersion, algorithmVersion };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...head, machine, ...content }, null, 2)}\n`);
}
