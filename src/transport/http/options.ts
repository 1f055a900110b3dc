import type { TransportOptions } from '../common.js';
import type { CoderOptions } from '../json/coder.js';

/** Options of every plugin of the HTTP server. */
export interface HttpOptions extends TransportOptions {
  /** Largest body in JSON, bytes: reading it takes many times its size. Default: maxMessageBytes. */
  readonly maxJsonBytes?: number | undefined;
  /** For tests. */
  readonly json?: CoderOptions;
}
