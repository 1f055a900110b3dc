import { availableParallelism, cpus, totalmem } from 'node:os';
import type { EngineDescription } from '../src/contract/server-info.js';

/** What a figure must name beside its command, to mean anything to somebody else. No host name: it tells nothing. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly platform: string;
  readonly node: string;
  readonly engines: readonly EngineDescription[];
}

export const describeMachine = (engines: readonly EngineDescription[]): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
  node: process.versions.node,
  engines,
});
