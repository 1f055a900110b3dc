import { readdir } from 'node:fs/promises';
import type { Logger } from '../observe/log.js';

/** ms between two checks; one reads a directory with as many entries as there are connections. */
const INTERVAL_MS = 2000;

/** Remaining descriptors at which the process counts as short of them: a thread that starts needs this many. */
const FEW = 8;

/** Where the open descriptors of this process are listed, on Linux. */
const FOLDER = '/proc/self/fd';

export interface DescriptorOptions {
  /** Descriptors that the process may have; undefined = unknown, so that only a failure counts. */
  readonly limit: number | undefined;
  readonly log: Logger;
  /** Called whenever a shortage is detected; metrics count them. */
  readonly onShortage: () => void;
  /** The open descriptors; for tests. */
  readonly list?: () => Promise<readonly unknown[]>;
  readonly intervalMs?: number;
}

/**
 * Watches for a shortage of descriptors, which Node does not report: at the limit the system library below it accepts
 * and closes new connections silently. The limits on connections leave room, so a shortage has other causes.
 */
export class DescriptorWatch {
  private isShort = false;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: DescriptorOptions) {
    const { intervalMs = INTERVAL_MS } = options;
    this.timer = setInterval(() => void this.look(), intervalMs).unref();
  }

  /**
   * For errors of a server. Without a listener, an `accept` that fails despite the measures of the system library would
   * end the process.
   */
  readonly report = (error: NodeJS.ErrnoException): void => {
    if (error.syscall !== 'accept') return;
    if (isExhaustion(error.code)) this.update(Number.POSITIVE_INFINITY);
    else this.options.log.error({ err: error }, 'A connection could not be accepted.');
  };

  end(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    const { list = () => readdir(FOLDER) } = this.options;
    try {
      this.update((await list()).length);
    } catch (thrown) {
      // Listing them takes a descriptor itself. Any other failure means that this system has no such list.
      if (isExhaustion((thrown as NodeJS.ErrnoException).code)) this.update(Number.POSITIVE_INFINITY);
    }
  }

  private update(open: number): void {
    const { limit, log, onShortage } = this.options;
    const wasShort = this.isShort;
    this.isShort = open === Number.POSITIVE_INFINITY || (limit !== undefined && open > limit - FEW);
    const facts = { event: 'descriptors', open: Number.isFinite(open) ? open : limit, limit };
    if (this.isShort) onShortage();
    if (this.isShort && !wasShort) {
      log.error(
        facts,
        'File descriptors are running out: new connections may be closed without an answer. Raise the limit of open files (ulimit -n), or lower INTERSTICE_MAX_CONNECTIONS.',
      );
    } else if (!this.isShort && wasShort) log.warn(facts, 'There are enough file descriptors again.');
  }
}

const isExhaustion = (code: string | undefined): boolean => code === 'EMFILE' || code === 'ENFILE';
