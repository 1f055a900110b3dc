import type { CallContext } from '../contract/call-context.js';
import type { JobInfo } from '../contract/long-jobs.js';
import type { Positions } from '../contract/mesh.js';
import type { Operations } from '../contract/operations.js';
import type { Progress } from '../contract/report.js';
import type {
  CheckAnswer,
  MeshCheckRequest,
  OnBudget,
  Priority,
  ResolveAnswer,
  ResolveRequest,
} from '../contract/requests.js';
import type { CreateSessionRequest } from '../contract/sessions.js';
import type { UntangleRequest } from '../contract/untangle.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import type { Terminal } from './terminal.js';

/** The operations that the commands call: an engine in this process, or a running service. */
export interface Backend extends Pick<Operations, 'resolve' | 'diagnose' | 'untangle' | 'close'> {
  check(request: MeshCheckRequest, context?: CallContext): Promise<CheckAnswer>;
  /** @param signal ends the session's steps with CANCELLED */
  openSession(request: CreateSessionRequest, signal: AbortSignal | undefined): Promise<BackendSession>;
  /** Of a service only. */
  readonly jobs?: BackendJobs;
}

export type BackendWork = { readonly resolve: ResolveRequest } | { readonly untangle: UntangleRequest };

/** The answer to the work that the job was submitted with. */
export type BackendAnswer =
  | { readonly resolve: ResolveAnswer; readonly untangle?: undefined }
  | { readonly untangle: UntangledState; readonly resolve?: undefined };

/** Resolves and untanglings as jobs of a service. An aborted signal ends the call (CANCELLED), never the job. */
export interface BackendJobs {
  submit(work: BackendWork, label: string, signal: AbortSignal | undefined): Promise<JobInfo>;
  get(id: string, signal: AbortSignal | undefined): Promise<JobInfo>;
  /** Polls about once a second until the job has ended, whether it succeeded or failed. */
  wait(id: string, onStatus: (job: JobInfo) => void, signal: AbortSignal | undefined): Promise<JobInfo>;
  /** @throws JOB_NOT_ENDED, and the error that the job ended with */
  result(id: string, signal: AbortSignal | undefined): Promise<BackendAnswer>;
  list(signal: AbortSignal | undefined): Promise<readonly JobInfo[]>;
  /** Stops the job if it has not ended, and forgets it. @throws JOB_NOT_FOUND */
  delete(id: string, signal: AbortSignal | undefined): Promise<void>;
}

export interface SessionStepOptions {
  readonly timeBudgetSeconds?: number;
  readonly onBudget?: OnBudget;
  readonly priority?: Priority;
  readonly onProgress?: (progress: Progress) => void;
}

/** A session as commands use it: one step after another, each from the last answer. */
export interface BackendSession {
  /** @param target [3·V], in the scalar type of the answer */
  step(target: Positions, options?: SessionStepOptions): Promise<Pick<ResolveAnswer, 'positions' | 'report'>>;
  close(): Promise<void>;
}

/** Where a command runs. An unset field takes the environment's setting, then the default. */
export interface BackendChoice {
  readonly server?: string;
  /** the file with the service's API key; unset: the variable INTERSTICE_API_KEY */
  readonly apiKeyFile?: string;
  readonly engine?: string;
  readonly threads?: number;
}

/** The dependencies of the commands; tests supply their own. */
export interface CliContext {
  readonly terminal: Terminal;
  /** Opens an engine in this process or a connection to a service. The caller closes it. @param command of the user */
  openBackend(choice: BackendChoice, command?: string): Promise<Backend>;
}
