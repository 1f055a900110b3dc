import type { TransportOptions } from '../common.js';
import type { CoderOptions } from '../json/coder.js';

/** Options of every plugin of the HTTP server. */
export interface HttpOptions extends TransportOptions {
  /** Largest body in JSON, bytes: reading it takes many times its size. Default: maxMessageBytes. */
  readonly maxJsonBytes?: number | undefined;
  /** Where the page at `/` is, for tests. Default: where the build writes it. */
  readonly pageFolder?: string;
  /** ms between two messages of a streamed answer, at most; default HEARTBEAT_MS. Tests shorten it. */
  readonly heartbeatMs?: number;
  /** For tests. */
  readonly json?: CoderOptions;
}
