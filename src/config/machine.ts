import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** What the machine allows this process: the origin of defaults that depend on it. */

/** Bytes of memory: those of the machine, or of the container if it has less. */
export function memoryBytes(): number {
  const limits = [totalmem(), process.constrainedMemory?.() ?? 0, cgroupMemory()];
  return Math.min(...limits.filter((bytes) => bytes > 0));
}

/** The limit of version 2 of control groups, which not every Node knows; 0 = none. */
function cgroupMemory(): number {
  return Number(read('/sys/fs/cgroup/memory.max')?.trim()) || 0;
}

/** Files, sockets included, that this process may have open; undefined if the system does not report it. */
export function openFileLimit(): number | undefined {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(read('/proc/self/limits') ?? '') ?? [];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
