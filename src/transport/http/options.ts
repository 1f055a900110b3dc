import type { TransportOptions } from '../common.js';
import type { CoderOptions } from '../json/coder.js';

/** Options of every plugin of the HTTP server. */
export interface HttpOptions extends TransportOptions {
  /** Largest body in JSON, and largest options of a form, bytes: reading it takes many times its size. Default: maxMessageBytes. */
  readonly maxJsonBytes?: number | undefined;
  /** Folder of the page at `/`, for tests. Default: the one that the build writes. */
  readonly pageFolder?: string;
  /** Largest time between two messages of a streamed answer, ms; default HEARTBEAT_MS. Tests shorten it. */
  readonly heartbeatMs?: number;
  /** For tests. */
  readonly json?: CoderOptions;
}
