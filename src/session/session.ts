import type { Warning } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Parameters, ParametersInput } from '../contract/parameters.js';
import type { Report } from '../contract/report.js';
import type { ResolveAnswer } from '../contract/requests.js';
import type { MeshSummary, Residency, SessionInfo, StepRequest } from '../contract/sessions.js';
import type { OpenAnswer, SceneState, StepOutcome } from '../jobs/scene-tasks.js';
import { bytesOf } from '../mesh/bytes.js';
import type { MeshMeasures } from '../mesh/types.js';
import { type ParameterRules, resolveParameters } from '../solver/parameters.js';
import { checkPartDistances } from '../solver/part-distances.js';
import type { LastStep } from './frames.js';
import { layOver } from './step-input.js';

/** What a session is opened with. All arrays are its own. */
export interface Opening {
  readonly id: string;
  readonly key: number;
  readonly tenant: string;
  readonly mesh: MeshInput;
  readonly start: Positions;
  readonly parameters: ParametersInput;
  readonly label: string;
  readonly idleTimeoutSeconds: number;
  readonly created: number;
}

/** An accepted step. */
export interface Commit {
  readonly frame: bigint;
  /** arrays of its own */
  readonly request: StepRequest;
  /** the whole target */
  readonly target: Positions;
  /** absent = as before */
  readonly mesh: { readonly version: number; readonly input: MeshInput } | undefined;
  readonly stateVersion: number;
  readonly outcome: StepOutcome;
}

/**
 * The truth about one session: what it was opened with and what its last accepted step left. It changes in two places
 * only, {@link commit} and {@link update}, each in one go.
 */
export class Session {
  label: string;
  idleTimeoutSeconds: number;
  /** ms since 1970 */
  lastUsed: number;
  /** its place among its tenant's sessions; the registry's */
  order = 0;
  /** a step or a check waits or runs: it neither expires nor is parked */
  workCount = 0;
  /** deleted or expired: nothing may be committed any more */
  isGone = false;
  residency: Residency = 'RESIDENT';
  /** what its scene took when it was last resident */
  sceneBytes: number;
  private mesh: MeshInput;
  private meshVersion = 0;
  private stateVersion = 0;
  private positions: Positions;
  private lastTarget: Positions;
  private last: LastStep = { frame: 0n };
  private answer: ResolveAnswer | undefined;
  private parameters: ParametersInput;
  private resolved: Parameters;
  private parameterWarnings: readonly Warning[];
  private readonly meshWarnings: readonly Warning[];
  private readonly summary: MeshSummary;
  /** versions are given once: a worker may hold those of a step that was never accepted */
  private versionsGiven = 0;
  private bytes: number;

  constructor(
    readonly opening: Opening,
    opened: OpenAnswer,
    private readonly rules: ParameterRules,
  ) {
    const { mesh, start, parameters } = opening;
    this.mesh = mesh;
    this.positions = start;
    this.lastTarget = start;
    this.parameters = parameters;
    this.label = opening.label;
    this.idleTimeoutSeconds = opening.idleTimeoutSeconds;
    this.lastUsed = opening.created;
    this.sceneBytes = opened.residentBytes;
    this.summary = opened.summary;
    this.resolved = opened.resolved;
    const { warnings } = resolveParameters(parameters, measuresOf(opened.summary), rules);
    // The worker lists both kinds together; those of the parameters go when the parameters change.
    const own = new Set(warnings.map(nameOf));
    this.parameterWarnings = opened.warnings.filter((warning) => own.has(nameOf(warning)));
    this.meshWarnings = opened.warnings.filter((warning) => !own.has(nameOf(warning)));
    this.bytes = this.countBytes();
  }

  get id(): string {
    return this.opening.id;
  }

  get key(): number {
    return this.opening.key;
  }

  get tenant(): string {
    return this.opening.tenant;
  }

  get lastStep(): LastStep {
    return this.last;
  }

  /** the stored answer, the very object that was sent first; absent before the first step */
  get storedAnswer(): ResolveAnswer | undefined {
    return this.answer;
  }

  get meshInput(): MeshInput {
    return this.mesh;
  }

  /** the last answer; before the first step the start */
  get state(): Positions {
    return this.positions;
  }

  get target(): Positions {
    return this.lastTarget;
  }

  /** bytes that the session room keeps for it, room for its first answer and target included */
  get hostBytes(): number {
    return this.bytes;
  }

  /** bytes that an engine holds for it now */
  get deviceBytes(): number {
    return this.residency === 'RESIDENT' ? this.sceneBytes : 0;
  }

  get contentHash(): string {
    return this.summary.contentHash;
  }

  nextVersion(): number {
    return ++this.versionsGiven;
  }

  /** @param mesh another than the committed one, for a step that brings it along */
  sceneState(mesh?: { readonly version: number; readonly input: MeshInput }): SceneState {
    return {
      key: this.key,
      meshVersion: mesh?.version ?? this.meshVersion,
      mesh: mesh?.input ?? this.mesh,
      stateVersion: this.stateVersion,
      start: this.positions,
    };
  }

  parametersUnder(override: ParametersInput | undefined): ParametersInput {
    return override ? layOver(this.parameters, override) : this.parameters;
  }

  /** @returns the answer as it is kept and sent */
  commit({ frame, request, target, mesh, stateVersion, outcome }: Commit): ResolveAnswer {
    const { residentBytes, ...answer } = outcome;
    if (mesh) {
      this.mesh = mesh.input;
      this.meshVersion = mesh.version;
    }
    this.stateVersion = stateVersion;
    this.positions = answer.positions;
    this.lastTarget = target;
    this.last = { frame, request };
    this.answer = answer;
    this.sceneBytes = residentBytes;
    this.bytes = this.countBytes();
    return answer;
  }

  /**
   * Other parameters, another idle timeout, another label, from now on.
   *
   * @throws what the parameters are refused with; nothing has changed then
   */
  update(change: {
    readonly parameters?: ParametersInput | undefined;
    readonly idleTimeoutSeconds?: number | undefined;
    readonly label?: string | undefined;
  }): void {
    if (change.parameters) {
      const parameters = layOver(this.parameters, change.parameters);
      const measures = measuresOf(this.summary);
      const { parameters: resolved, warnings } = resolveParameters(parameters, measures, this.rules);
      // What every step would be refused with. The warnings of parts stay those of the mesh.
      checkPartDistances({ parts: this.mesh.parts ?? [] }, resolved, measures);
      this.parameters = parameters;
      this.resolved = resolved;
      this.parameterWarnings = warnings;
    }
    this.idleTimeoutSeconds = change.idleTimeoutSeconds ?? this.idleTimeoutSeconds;
    this.label = change.label ?? this.label;
  }

  describe(): SessionInfo {
    const lastReport: Report | undefined = this.answer?.report;
    return {
      id: this.id,
      frame: this.last.frame,
      resolved: this.resolved,
      mesh: this.summary,
      warnings: [...this.meshWarnings, ...this.parameterWarnings],
      label: this.label,
      created: this.opening.created,
      lastUsed: this.lastUsed,
      idleTimeoutSeconds: this.idleTimeoutSeconds,
      residency: this.residency,
      deviceBytes: this.deviceBytes,
      ...(lastReport ? { lastReport } : {}),
    };
  }

  private countBytes(): number {
    const held = bytesOf(this.mesh, this.positions, this.lastTarget, this.last.request, this.answer);
    return Math.max(held, demandOf(this.mesh, this.positions));
  }
}

/** What a session is certain to keep once it works: its mesh, an answer and a target. */
export function demandOf(mesh: MeshInput, state: Positions): number {
  return bytesOf(mesh) + STATES_KEPT * state.byteLength;
}

const STATES_KEPT = 2;

/** What parameters are resolved against: the measures of frame 0, which the summary carries. */
function measuresOf({ medianEdge, minHeight, bounds }: MeshSummary): MeshMeasures {
  return { medianEdge, minHeight, bounds: bounds as MeshMeasures['bounds'], warnings: [] };
}

function nameOf({ code, message }: Warning): string {
  return `${code} ${message}`;
}
