import type { CollisionMesh } from '../../mesh/types.js';
import type { Settings } from '../settings.js';
import type { ActivePairs } from './active-pairs.js';
import { ContactCandidates } from './contact-candidates.js';
import { Contacts } from './contacts.js';
import { Forward } from './forward.js';
import { ProgressWatch } from './progress-watch.js';
import { Residuals } from './residuals.js';
import { Slide } from './slide.js';
import type { Workspace } from './workspace.js';

/**
 * What remembers something from one step to the next, and nothing from one request to the next: made anew by every request
 * in memory that the workspace lends, so that nothing of one request can reach another.
 */
export class Stages {
  readonly active: ActivePairs;
  readonly candidates: ContactCandidates;
  readonly contacts: Contacts;
  readonly forward: Forward;
  readonly residuals: Residuals;
  readonly slide: Slide;
  readonly watch: ProgressWatch;
  /** uint8[V] 1 where y ≠ x */
  readonly moving: Uint8Array;

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

  /** Marks who wants to move; returns how many do. */
  markMoving(x: Float32Array, y: Float32Array): number {
    const { moving } = this;
    let count = 0;
    for (let i = 0, k = 0; i < moving.length; i++, k += 3) {
      const moves = x[k] !== y[k] || x[k + 1] !== y[k + 1] || x[k + 2] !== y[k + 2] ? 1 : 0;
      moving[i] = moves;
      count += moves;
    }
    return count;
  }
}
