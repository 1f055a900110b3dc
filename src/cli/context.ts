import type { Backend, BackendChoice } from './backend.js';
import type { Terminal } from './terminal.js';

/** What the commands are given; tests hand in their own. */
export interface CliContext {
  readonly terminal: Terminal;
  /** Opens an engine in this process, or the way to a service. The caller closes it. */
  openBackend(choice: BackendChoice): Promise<Backend>;
}
