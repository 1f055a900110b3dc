import type { Finding } from '../jobs/finding.js';
import { writeFinding } from './findings-folder.js';
import type { Log, Observation } from './observation.js';

/** Says of every finding, loudly, that it happened: to the observer, to the log, and in a folder with what reproduces it. */
export class FindingsRecorder {
  /** reproductions being written, so that closing does not cut one off */
  private readonly writing = new Set<Promise<void>>();

  constructor(
    private readonly observation: Observation,
    private readonly log: Log | undefined,
    private readonly folder: string | undefined,
  ) {}

  record(finding: Finding): void {
    const { log } = this;
    this.observation.emit({ type: 'finding', kind: finding.kind, engine: finding.engine });
    const event = { level: 'error', event: 'finding', kind: finding.kind, engine: finding.engine };
    const write = writeFinding(finding, this.folder).then(
      (folder) => log?.({ ...event, folder }, `${finding.message}; it was not sent, see ${folder}`),
      (reason: unknown) =>
        log?.({ ...event, err: reason }, `${finding.message}; it was not sent, and no reproduction could be written`),
    );
    this.writing.add(write);
    void write.finally(() => this.writing.delete(write));
  }

  async flush(): Promise<void> {
    await Promise.all(this.writing);
  }
}
