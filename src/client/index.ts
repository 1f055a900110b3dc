/** `import { Client } from 'interstice/client'`: the service from Node or a browser, over HTTP, needing no package. */

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
