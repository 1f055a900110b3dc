/**
 * `import { Client } from '@interstice-ccd/interstice/client'`: a client for Node and browsers, over HTTP, without
 * dependencies.
 */

export { Client } from './client.js';
export type { ClientOptions } from './connection.js';
export { type LocalCode, ServiceError } from './errors.js';
export type { Job } from './job.js';
export type { RetryOptions } from './retry.js';
export type { Session } from './session.js';
export type { TlsFiles } from './tls.js';
export type {
  CallOptions,
  CheckAnswer,
  CheckOptions,
  Contacts,
  FrameLoss,
  JobOptions,
  JobStatus,
  JobWaitOptions,
  Limits,
  Mesh,
  Parameters,
  Path,
  Positions,
  Progress,
  ProgressListener,
  Reasons,
  Report,
  ResolveOptions,
  ResolveResult,
  ServedUntangleReport,
  ServerInfo,
  SessionCheckOptions,
  SessionOptions,
  StepOptions,
  StepResult,
  UntangleCallOptions,
  UntangledState,
  UntangleJobOptions,
  UntangleOptions,
  UntangleProgress,
  VertexReport,
} from './types.js';
