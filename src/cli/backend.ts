import type { CallContext } from '../contract/call-context.js';
import type { Positions } from '../contract/mesh.js';
import type { Operations } from '../contract/operations.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { CheckAnswer, MeshCheckRequest, ResolveAnswer } from '../contract/requests.js';
import type { CreateSessionRequest } from '../contract/sessions.js';
import type { Terminal } from './terminal.js';

/** The operations that the commands call: an engine in this process, or a running service. */
export interface Backend extends Pick<Operations, 'resolve' | 'close'> {
  check(request: MeshCheckRequest, context?: CallContext): Promise<CheckAnswer>;
  /** @param signal ends the session's steps with CANCELLED */
  openSession(request: CreateSessionRequest, signal: AbortSignal | undefined): Promise<BackendSession>;
  /** Defaults of the engine, if known without a call; the progress bar is drawn against them. */
  readonly defaults?: ParametersInput;
}

/** A session as a command uses it: one step after the other, each from the last answer. */
export interface BackendSession {
  /** @param target [3·V], in the scalar type of the answer */
  step(target: Positions): Promise<Pick<ResolveAnswer, 'positions' | 'report'>>;
  close(): Promise<void>;
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
