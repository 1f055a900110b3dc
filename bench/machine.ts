import { availableParallelism, cpus, totalmem } from 'node:os';
import type { EngineDescription } from '../src/contract/server-info.js';

/**
 * The data besides its command without which a figure means nothing to others. The host name is not among them, because
 * it carries no information.
 */
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
