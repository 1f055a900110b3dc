import type { Backend, BackendChoice } from './backend.js';
import type { Terminal } from './terminal.js';

/** An engine in this process, or the way to a running service; only the one that is asked for is loaded. */
export async function openBackend(choice: BackendChoice, terminal: Terminal): Promise<Backend> {
  if (choice.server !== undefined) {
    const { createRemote } = await import('./remote.js');
    return createRemote(choice.server);
  }
  const { openLocal } = await import('./local.js');
  return openLocal(choice, terminal.env, terminal.err);
}
