/**
 * The package as a library: the operations of the service in this process, the mesh files it reads and writes, and its
 * errors. What is not exported here may change at any time.
 */

export type { CallContext } from './contract/call-context.js';
export type { ElementPair, ElementRef, PairKind } from './contract/elements.js';
export type { Warning } from './contract/errors.js';
export { ERRORS, type ErrorCode, type ErrorDetails, type ErrorKind, IntersticeError } from './contract/errors.js';
export type { MeshInput, PartInput, Positions, StrainLimitsInput } from './contract/mesh.js';
export type { Operations } from './contract/operations.js';
export type {
  ContactForm,
  ForwardRule,
  IntersectingStart,
  KinematicPairs,
  Parameters,
  ParametersInput,
  Preset,
  VerifyLevel,
} from './contract/parameters.js';
export type {
  Contacts,
  PairCounts,
  Progress,
  Report,
  Status,
  Timings,
  Verification,
  VertexReport,
} from './contract/report.js';
export type {
  CheckAnswer,
  CheckRequest,
  IncludeInput,
  OnBudget,
  ResolveAnswer,
  ResolveRequest,
} from './contract/requests.js';
export type { EngineDescription, Limits, MemoryLimits, ServerInfo } from './contract/server-info.js';
export * from './mesh/files/index.js';
export { algorithmVersion, packageVersion } from './paths.js';
export { createOperations, type OperationsOptions } from './session/operations.js';
