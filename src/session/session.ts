import type { Warning } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { Parameters, ParametersInput } from '../contract/parameters.js';
import type { Report } from '../contract/report.js';
import type { Priority, ResolveAnswer } from '../contract/requests.js';
import type { MeshSummary, Residency, SessionInfo, StepRequest } from '../contract/sessions.js';
import type { UntangledState } from '../contract/untangle-answer.js';
import type { OpenAnswer, StepOutcome, StepTask } from '../jobs/tasks.js';
import { bytesOf } from '../mesh/bytes.js';
import type { MeshMeasures } from '../mesh/types.js';
import type { Engine } from '../solver/engine.js';
import { type ParameterRules, resolveParameters } from '../solver/parameters.js';
import { checkPartDistances } from '../solver/part-distances.js';
import { checkPartOffsets } from '../solver/part-offsets.js';
import { checkStrainLimits } from '../solver/strain/check.js';
import { checkVolumes } from '../solver/volume-impulses/check.js';
import type { Call } from './call.js';
import type { LastStep } from './frames.js';
import type { KeptState } from './kept-state.js';
import { changeMesh, composeTarget, layOver } from './step-input.js';
import type { OpeningRecord } from './stored-session.js';

/** The data with which a session is created; its arrays belong to the session. */
export interface Opening {
  readonly id: string;
  /** identifies the scene for the lanes */
  readonly key: number;
  readonly tenant: string;
  readonly mesh: MeshInput;
  readonly start: Positions;
  readonly parameters: ParametersInput;
  /** the untangling that produced the start; absent = the start is the caller's */
  readonly untangled?: UntangledState;
  readonly label: string;
  readonly idleTimeoutSeconds: number;
  /** ms since 1970 */
  readonly created: number;
  /** the priority of its opening: it determines the lanes of its scene */
  readonly priority: Priority;
}

/** The fields of a step that change the mesh, from that step on. */
export interface MeshChanges {
  readonly kinematic?: Uint8Array | undefined;
  readonly masses?: Float32Array | undefined;
}

/** Input of a step, with the session's parameters and last target filled in. */
export interface RepeatedStep extends MeshChanges {
  readonly target: Positions;
  readonly parameters: ParametersInput;
  readonly start?: Positions | undefined;
}

export interface SessionPlace {
  readonly changes: MeshChanges;
  readonly positions: Positions;
  readonly lastTarget: Positions;
  readonly meshVersion: number;
  readonly stateVersion: number;
  readonly lastVersion: number;
}

/** The rules for the parameters of a session, with the engine of its steps. */
export interface SessionRules extends ParameterRules {
  readonly engine: Pick<Engine, 'description'>;
}

export interface SessionSettings {
  readonly parameters: ParametersInput;
  readonly label: string;
  readonly idleTimeoutSeconds: number;
}

/**
 * The authoritative state of one session: the data with which it was created, and the result of its last accepted step. Only
 * {@link commit} and {@link update} change it, each of them atomically.
 */
export class Session {
  label: string;
  idleTimeoutSeconds: number;
  /** ms since 1970 */
  lastUsed: number;
  /** its number among the sessions of its tenant; set by the registry */
  order = 0;
  /** number of its steps and checks that wait or run; while it is not 0, the session neither expires nor is parked */
  workCount = 0;
  /** deleted or expired: no step may be committed any more */
  hasEnded = false;
  residency: Residency = 'RESIDENT';
  /** size in bytes of the saved data of its scene while it is parked */
  savedBytes = 0;
  /** bytes of its scene when it was last resident */
  sceneBytes: number;
  /** its record in the store; undefined = it exists in this process only */
  kept: KeptState | undefined;
  private mesh: MeshInput;
  /** changes of the mesh since the session was created */
  private changes: MeshChanges = {};
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
  /** of frame 0, against which parameters are resolved */
  private readonly measures: MeshMeasures;
  /** each version is used once, because a lane may hold that of a step that was never accepted */
  private lastVersion = 0;
  private bytes: number;

  readonly opening: Omit<Opening, 'untangled'>;
  /** until the first step */
  untangled: UntangledState | undefined;

  constructor(
    { untangled, ...opening }: Opening,
    private readonly opened: OpenAnswer,
    private readonly rules: SessionRules,
  ) {
    const { mesh, start, parameters } = opening;
    this.opening = opening;
    this.mesh = mesh;
    this.positions = start;
    this.lastTarget = start;
    this.parameters = parameters;
    this.label = opening.label;
    this.untangled = untangled;
    this.idleTimeoutSeconds = opening.idleTimeoutSeconds;
    this.lastUsed = opening.created;
    this.sceneBytes = opened.residentBytes;
    this.summary = opened.summary;
    this.measures = opened.measures;
    this.resolved = opened.resolved;
    const { warnings } = resolveParameters(parameters, opened.measures, rules);
    // The lane lists both kinds together; those of the parameters are replaced when the parameters change.
    const ofParameters = new Set(warnings.map(textOf));
    this.parameterWarnings = opened.warnings.filter((warning) => ofParameters.has(textOf(warning)));
    this.meshWarnings = opened.warnings.filter((warning) => !ofParameters.has(textOf(warning)));
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

  /** the last answer, the same object that was sent; absent before the first step */
  get storedAnswer(): ResolveAnswer | undefined {
    return this.answer;
  }

  get meshInput(): MeshInput {
    return this.mesh;
  }

  /** [3·V] the last answer; before the first step, the start */
  get state(): Positions {
    return this.positions;
  }

  /** bytes of host memory that the session keeps, including room for its first answer and target, and its scene while parked */
  get hostBytes(): number {
    return this.bytes + (this.residency === 'PARKED' ? this.savedBytes : 0);
  }

  /** bytes that a lane holds for the session now */
  get deviceBytes(): number {
    return this.residency === 'RESIDENT' ? this.sceneBytes : 0;
  }

  get contentHash(): string {
    return this.summary.contentHash;
  }

  /**
   * Composes the task of a step from what the session holds now. Changes nothing: only {@link commit} does.
   *
   * @param request its arrays are the session's own
   */
  prepareStep(request: StepRequest, { receivedAt, queuedAt }: Pick<Call, 'receivedAt' | 'queuedAt'>): StepTask {
    const { start, override, include, timeBudgetSeconds, onBudget, kinematic, masses } = request;
    const target = composeTarget(request, this.mesh, this.lastTarget);
    const parameters = override ? layOver(this.parameters, override) : this.parameters;
    return {
      receivedAt,
      queuedAt,
      ...this.prepare({ target, parameters, start, kinematic, masses }),
      ...(include ? { include } : {}),
      ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
      ...(onBudget ? { onBudget } : {}),
    };
  }

  /** The task of a step that this process or another one has accepted before: its result is known, its scene is not. */
  repeatStep(step: RepeatedStep, now: number): StepTask {
    return { receivedAt: now, queuedAt: now, ...this.prepare(step) };
  }

  private prepare({ target, parameters, start, ...changes }: RepeatedStep) {
    const changedMesh = changeMesh(changes, this.mesh);
    return {
      state: {
        key: this.key,
        meshVersion: changedMesh ? ++this.lastVersion : this.meshVersion,
        mesh: changedMesh ?? this.mesh,
        stateVersion: this.stateVersion,
        start: this.positions,
      },
      nextVersion: ++this.lastVersion,
      target,
      parameters,
      ...(start ? { start } : {}),
    };
  }

  /**
   * Accepts a step.
   *
   * @param task from {@link prepareStep} for `request`
   * @returns the answer as it is kept and sent
   */
  commit(frame: bigint, request: StepRequest, task: StepTask, outcome: StepOutcome): ResolveAnswer {
    const { residentBytes, ...answer } = outcome;
    this.advance(request, task, outcome);
    this.last = { frame, request };
    this.answer = answer;
    this.untangled = undefined;
    this.bytes = this.countBytes();
    return answer;
  }

  /** Makes the resulting state of a step the state of the session; {@link commit} or {@link settle} set frame and answer. */
  advance(changes: MeshChanges, { state, nextVersion, target }: StepTask, outcome: StepOutcome): void {
    this.mesh = state.mesh;
    this.meshVersion = state.meshVersion;
    this.changes = mergeChanges(this.changes, changes);
    this.stateVersion = nextVersion;
    this.positions = outcome.positions;
    this.lastTarget = target;
    this.sceneBytes = outcome.residentBytes;
  }

  /** The data with which the session was created, for a store. */
  openingRecord(by: string): OpeningRecord {
    const { start, parameters, created, priority } = this.opening;
    const { untangled } = this;
    return { by, start, parameters, created, priority, opened: this.opened, ...(untangled ? { untangled } : {}) };
  }

  /** Everything except the scene from which a step continues. Its arrays belong to the session. */
  get place(): SessionPlace {
    const { changes, positions, lastTarget, meshVersion, stateVersion, lastVersion } = this;
    return { changes, positions, lastTarget, meshVersion, stateVersion, lastVersion };
  }

  /** Moves to the state that another process has reached. */
  goTo(place: SessionPlace): void {
    const { changes, positions, lastTarget, meshVersion, stateVersion, lastVersion } = place;
    this.changes = changes;
    this.mesh = changeMesh(changes, this.opening.mesh) ?? this.opening.mesh;
    this.positions = positions;
    this.lastTarget = lastTarget;
    this.meshVersion = meshVersion;
    this.stateVersion = stateVersion;
    this.lastVersion = lastVersion;
    this.bytes = this.countBytes();
  }

  /** Adopts the last answer that another process has given for the current state of the session. */
  settle(last: LastStep, answer: ResolveAnswer): void {
    this.last = last;
    this.answer = answer;
    this.untangled = undefined;
    this.positions = answer.positions;
    this.bytes = this.countBytes();
  }

  /** The properties of a session that can be changed. */
  get settings(): SessionSettings {
    const { parameters, label, idleTimeoutSeconds } = this;
    return { parameters, label, idleTimeoutSeconds };
  }

  /**
   * Changes parameters, idle timeout and label from now on.
   *
   * @returns a function that undoes the change, to be called before another one is made
   * @throws what {@link resolveParameters}, {@link checkPartDistances}, {@link checkPartOffsets}, {@link checkStrainLimits} and
   *   {@link checkVolumes} refuse; the session is then unchanged
   */
  update(change: {
    readonly parameters?: ParametersInput | undefined;
    readonly idleTimeoutSeconds?: number | undefined;
    readonly label?: string | undefined;
  }): () => void {
    const { parameters: before, resolved: resolvedBefore, parameterWarnings: warningsBefore } = this;
    const { label, idleTimeoutSeconds } = this;
    if (change.parameters) {
      const parameters = layOver(this.parameters, change.parameters);
      const { measures } = this;
      const { parameters: resolved, warnings } = resolveParameters(parameters, measures, this.rules);
      // Otherwise every following step would be refused. The warnings about parts stay with those of the mesh.
      const parts = this.mesh.parts ?? [];
      checkPartDistances({ parts }, resolved, measures);
      checkPartOffsets({ parts }, resolved);
      checkStrainLimits({ strain: this.mesh.strainLimits }, resolved, this.rules.engine);
      const { thinElements } = this.opened;
      if (resolved.method === 'VOLUME_IMPULSES' && thinElements) checkVolumes(thinElements);
      this.parameters = parameters;
      this.resolved = resolved;
      this.parameterWarnings = warnings;
    }
    this.idleTimeoutSeconds = change.idleTimeoutSeconds ?? this.idleTimeoutSeconds;
    this.label = change.label ?? this.label;
    return () => {
      this.parameters = before;
      this.resolved = resolvedBefore;
      this.parameterWarnings = warningsBefore;
      this.label = label;
      this.idleTimeoutSeconds = idleTimeoutSeconds;
    };
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
      ...(this.untangled ? { untangle: this.untangled } : {}),
    };
  }

  /** bytes of host memory that the session will keep once it has accepted the step */
  bytesWith(request: StepRequest, { state, target }: StepTask, outcome: StepOutcome): number {
    const { mesh, start } = this.opening;
    const held = bytesOf(mesh, start, state.mesh, target, request, outcome);
    return Math.max(held, minHostBytes(state.mesh, outcome.positions));
  }

  /** Counts the bytes again, after {@link kept} got a pending step or lost it. */
  recount(): void {
    this.bytes = this.countBytes();
  }

  private countBytes(): number {
    const { mesh, start } = this.opening;
    const { positions, lastTarget, last, answer, untangled, kept } = this;
    const held = bytesOf(mesh, start, this.mesh, positions, lastTarget, last.request, answer, untangled, kept?.pending);
    return Math.max(held, minHostBytes(this.mesh, positions));
  }
}

function mergeChanges(before: MeshChanges, { kinematic, masses }: MeshChanges): MeshChanges {
  return { ...before, ...(kinematic ? { kinematic } : {}), ...(masses ? { masses } : {}) };
}

/** Minimum host memory of a session in bytes: its mesh, its start, an answer and a target. */
export function minHostBytes(mesh: MeshInput, state: Positions): number {
  return bytesOf(mesh) + STATES_KEPT * state.byteLength;
}

/** the start, from which a store can rebuild the session, an answer and a target */
const STATES_KEPT = 3;

function textOf({ code, message }: Warning): string {
  return `${code} ${message}`;
}
