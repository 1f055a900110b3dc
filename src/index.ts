/**
 * The package as a library: the operations of the service in this process, the mesh files it reads and writes, and its
 * errors (docs/clients.md, Without a service). What is not exported here may change at any time.
 */

export type * from './contract/call-context.js';
export type * from './contract/diagnosis.js';
export type * from './contract/elements.js';
export type { Warning } from './contract/errors.js';
export { ERRORS, type ErrorCode, type ErrorDetails, type ErrorKind, IntersticeError } from './contract/errors.js';
export type { MeasuredOperations, OperationObserver } from './contract/events.js';
export type * from './contract/long-jobs.js';
export type * from './contract/mesh.js';
export type { Operations } from './contract/operations.js';
export type * from './contract/parameters.js';
export type * from './contract/path.js';
export type * from './contract/report.js';
export type * from './contract/requests.js';
export type { EngineDescription, Limits, MemoryLimits, ServerInfo } from './contract/server-info.js';
export type * from './contract/sessions.js';
export type * from './contract/untangle.js';
export type * from './contract/untangle-answer.js';
export * from './mesh/files/index.js';
export { algorithmVersion, packageVersion } from './paths.js';
export { createOperations, type OperationsOptions } from './session/operations.js';
