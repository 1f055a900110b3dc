import type { CallContext } from '../contract/call-context.js';
import type { Operations } from '../contract/operations.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { CheckAnswer, MeshCheckRequest } from '../contract/requests.js';
import type { Terminal } from './terminal.js';

/** The operations that the commands call: an engine in this process, or a running service. */
export interface Backend extends Pick<Operations, 'resolve' | 'close'> {
  check(request: MeshCheckRequest, context?: CallContext): Promise<CheckAnswer>;
  /** Defaults of the engine, if known without a call; the progress bar is drawn against them. */
  readonly defaults?: ParametersInput;
}

/** Where a command runs. An unset field takes the environment's setting, then the default. */
export interface BackendChoice {
  readonly server?: string;
  /** of the service's API key; unset: the variable INTERSTICE_API_KEY */
  readonly apiKeyFile?: string;
  readonly engine?: string;
  readonly threads?: number;
}

/** What the commands depend on; tests supply their own. */
export interface CliContext {
  readonly terminal: Terminal;
  /** Opens an engine in this process or a connection to a service. The caller closes it. */
  openBackend(choice: BackendChoice): Promise<Backend>;
}
