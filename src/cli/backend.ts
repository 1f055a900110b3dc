import type { CallContext } from '../contract/call-context.js';
import type { Operations } from '../contract/operations.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { CheckAnswer, MeshCheckRequest } from '../contract/requests.js';

/** What the commands call: an engine in this process, or a running service. */
export interface Backend extends Pick<Operations, 'resolve' | 'close'> {
  check(request: MeshCheckRequest, context?: CallContext): Promise<CheckAnswer>;
  /** The engine's defaults, where they are known without asking; progress is drawn against them. */
  readonly defaults?: ParametersInput;
}

/** Where the work is to be done; unset = the environment's setting, then the default. */
export interface BackendChoice {
  readonly server?: string;
  readonly engine?: string;
  readonly threads?: number;
}
