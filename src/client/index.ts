/** `import { Client } from 'interstice/client'`: a client for Node and browsers, over HTTP, without dependencies. */

export { Client } from './client.js';
export type { ClientOptions } from './connection.js';
export { type LocalCode, ServiceError } from './errors.js';
export type { RetryOptions } from './retry.js';
export type { Session } from './session.js';
export type { TlsFiles } from './tls.js';
export type {
  CallOptions,
  CheckAnswer,
  CheckOptions,
  Contacts,
  Limits,
  Mesh,
  Parameters,
  Positions,
  Report,
  ResolveOptions,
  ResolveResult,
  ServerInfo,
  SessionCheckOptions,
  SessionOptions,
  StepOptions,
  StepResult,
  VertexReport,
} from './types.js';
