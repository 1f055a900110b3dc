import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A control group of Linux that limits the memory of its processes: the kernel ends one of them if together they need
 * more. It is a child of the group of this process, so the limits of that group apply, too.
 *
 * Version 1 needs a writable `memory` hierarchy (root). Version 2 needs the controller `memory` delegated to the
 * children of the process's own group, which `systemd-run --scope -p Delegate=yes` and container engines do; a group
 * with processes of its own cannot delegate, so the child is then created beside it.
 */
export class MemoryGroup {
  private constructor(
    private readonly folder: string,
    private readonly files: GroupFiles,
  ) {}

  /** @throws Error if this process may not create control groups */
  static create(bytes: number): MemoryGroup {
    const { parent, files } = placeOfGroups();
    const folder = join(parent, `interstice-${process.pid}`);
    try {
      mkdirSync(folder);
      writeFileSync(join(folder, files.limit), String(bytes));
      // Swapping would hide the effect of the limit.
      if (existsSync(join(folder, files.swap))) writeFileSync(join(folder, files.swap), files.noSwap(bytes));
    } catch (cause) {
      if (existsSync(folder)) rmdirSync(folder);
      throw new Error(
        `No control group with a limit of memory can be made in ${parent}: ${(cause as Error).message}.`,
        {
          cause,
        },
      );
    }
    return new MemoryGroup(folder, files);
  }

  /** A prefix for a command line: the command runs in this group from its first instruction on. */
  get launcher(): readonly string[] {
    return ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', join(this.folder, 'cgroup.procs')];
  }

  /** Largest memory use since {@link forgetPeak}, bytes, including page cache and buffers of the kernel. */
  get peakBytes(): number {
    return Number(this.read(this.files.peak));
  }

  /** Resets the peak, if the kernel allows it. */
  forgetPeak(): void {
    try {
      writeFileSync(join(this.folder, this.files.peak), '0');
    } catch {
      // Version 2 before Linux 6.12: the peak is that of the whole run.
    }
  }

  /** How often the kernel ended a process of this group. */
  get kills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(this.read(this.files.events))?.[1] ?? 0);
  }

  /** Call this when its processes have ended. */
  async remove(): Promise<void> {
    for (let attempt = 0; existsSync(this.folder); attempt++) {
      try {
        rmdirSync(this.folder);
      } catch (thrown) {
        // A process that has ended leaves its group a moment later.
        if (attempt === REMOVAL_ATTEMPTS) throw thrown;
        await wait(REMOVAL_PAUSE_MS);
      }
    }
  }

  private read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }
}

const REMOVAL_ATTEMPTS = 50;
const REMOVAL_PAUSE_MS = 100;

/** Names of the files of a group, which differ by version. */
interface GroupFiles {
  readonly limit: string;
  readonly swap: string;
  readonly peak: string;
  readonly events: string;
  /** content of `swap` that forbids swapping */
  noSwap(bytes: number): string;
}

const VERSION_1: GroupFiles = {
  limit: 'memory.limit_in_bytes',
  // The sum of memory and swap.
  swap: 'memory.memsw.limit_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  events: 'memory.oom_control',
  noSwap: String,
};

const VERSION_2: GroupFiles = {
  limit: 'memory.max',
  swap: 'memory.swap.max',
  peak: 'memory.peak',
  events: 'memory.events',
  noSwap: () => '0',
};

function placeOfGroups(): { readonly parent: string; readonly files: GroupFiles } {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const first = lines.map((line) => /^\d+:([^:]*,)?memory(,[^:]*)?:(.*)$/.exec(line)?.[3]).find((path) => path);
  if (first !== undefined) return { parent: join('/sys/fs/cgroup/memory', first), files: VERSION_1 };
  const own = lines.map((line) => /^0::(.*)$/.exec(line)?.[1]).find((path) => path) ?? '/';
  return { parent: join('/sys/fs/cgroup', own, '..'), files: VERSION_2 };
}
