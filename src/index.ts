/**
 * The package as a library: the operations of the service in this process, the mesh files it reads and writes, and its
 * errors. What is not exported here may change at any time.
 */

export {
  type ElementPair,
  type ElementRef,
  ERRORS,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  IntersticeError,
  type PairKind,
} from './errors.js';
export * from './mesh/files/index.js';
export type { MeshInput, PartInput, Positions } from './mesh/types.js';
export { algorithmVersion, packageVersion } from './paths.js';
export { createOperations, type OperationsOptions } from './session/operations.js';
export type {
  CallContext,
  CheckAnswer,
  CheckRequest,
  Contacts,
  IncludeInput,
  Limits,
  OnBudget,
  Operations,
  Report,
  ResolveAnswer,
  ResolveRequest,
  ServerInfo,
  Timings,
  Verification,
  VertexReport,
  Warning,
} from './session/types.js';
export type {
  ContactForm,
  EngineDescription,
  ForwardRule,
  IntersectingStart,
  KinematicPairs,
  PairCounts,
  Parameters,
  ParametersInput,
  Preset,
  Progress,
  Status,
  VerifyLevel,
} from './solver/types.js';
