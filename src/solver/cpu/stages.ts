import type { StageTimings } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import type { Settings } from '../settings.js';
import type { ActivePairs } from './active-pairs.js';
import { ContactCandidates } from './candidates.js';
import { Contacts } from './contacts.js';
import { Forward } from './forward.js';
import { Residuals } from './motion.js';
import { ProgressWatch } from './progress-watch.js';
import { Slide } from './slide.js';
import type { Workspace } from './workspace.js';

/**
 * The stages of a step with their state between steps. Every request constructs them again in the memory of the
 * workspace, so that no state passes from one request to another.
 */
export class Stages {
  readonly active: ActivePairs;
  readonly candidates: ContactCandidates;
  readonly contacts: Contacts;
  readonly forward: Forward;
  readonly residuals: Residuals;
  readonly slide: Slide;
  readonly watch: ProgressWatch;
  /** uint8[V] 1 if y ≠ x */
  readonly moving: Uint8Array;
  readonly clock = new StageClock();

  constructor(mesh: CollisionMesh, settings: Settings, { scratch, active }: Workspace) {
    const { vertexCount, inverseMasses } = mesh;
    this.active = active;
    this.candidates = new ContactCandidates(scratch);
    this.contacts = new Contacts(inverseMasses, settings.contact, scratch);
    this.forward = new Forward(vertexCount, scratch);
    this.residuals = new Residuals(vertexCount, scratch);
    this.slide = new Slide(vertexCount, settings, scratch);
    this.watch = new ProgressWatch(vertexCount, settings, scratch);
    this.moving = scratch.uint8('moving', vertexCount).fill(0);
  }
}

/** Attributes the time of a resolve to its stages: every lap belongs to the stage that has just ended. */
export class StageClock {
  readonly #milliseconds: StageTimings = { search: 0, geometry: 0, backward: 0, forward: 0 };
  #since = performance.now();

  /** Discards the time since the last lap, which belongs to no stage. */
  restart(): void {
    this.#since = performance.now();
  }

  /** Adds the time since the last lap to the stage. */
  lap(stage: keyof StageTimings): void {
    const now = performance.now();
    this.#milliseconds[stage] += now - this.#since;
    this.#since = now;
  }

  /** Microseconds by stage. */
  get timings(): StageTimings {
    const { search, geometry, backward, forward } = this.#milliseconds;
    return { search: 1000 * search, geometry: 1000 * geometry, backward: 1000 * backward, forward: 1000 * forward };
  }
}
