import { type Contacts, gapOf, NO_CONTACTS } from '../contacts.js';
import type { CollisionHandler, State } from '../integrator.js';
import type { Report } from '../service.js';
import type { Constraint } from './constraint.js';
import { border, conforming, Inextensibility } from './constraints.js';
import { ContactConstraint, type ContactSettings, chooseContacts } from './contact-constraint.js';
import { type Projected, Projection, type ProjectionSettings } from './projection.js';
import type { Shell } from './shell.js';
import { ShellBending } from './shell-bending.js';

/** When the service is called: after the projection, or between projections that include its contacts. */
export type Coupling = 'staggered' | 'simultaneous';

export interface IsometricSettings {
  readonly coupling: Coupling;
  /** h, s */
  readonly timeStep: number;
  /**
   * largest number of calls of the service in a time step, if they are simultaneous; two in the thesis. Calls end when
   * the answer is the target, and its strain is within the tolerance.
   */
  readonly maxCalls: number;
  /** of the distances between red nodes, | length / rest − 1 |: projections and calls end below it */
  readonly strainTolerance: number;
  readonly projection: ProjectionSettings;
  readonly contact: ContactSettings;
  /** the answers list pairs that are nearer, m */
  readonly contactDistance: number;
}

export interface IsometricRecord {
  /** calls of the service */
  readonly calls: number;
  /** Gauss-Newton iterations of all projections */
  readonly iterations: number;
  /** projections that reached their limit of iterations before their constraints were within the tolerances */
  readonly cutShort: number;
  /** contacts in the last projection */
  readonly contacts: number;
  /** of the red triangles in the answer and in the last target */
  readonly strain: number;
  readonly targetStrain: number;
  /** of the edges of the base mesh, | distance of black nodes / rest − 1 |, in the answer and in the last target */
  readonly edgeStrain: number;
  readonly targetEdgeStrain: number;
  /** J */
  readonly bendingEnergy: number;
  /** largest |x' − y| of the last call, m */
  readonly distance: number;
  /** ms */
  readonly projectionMs: number;
  readonly serviceMs: number;
  /** of the last call */
  readonly report: Report;
}

/** A contact of the last target is kept while its gap exceeds its required value by no more than this share. */
const GAP_SLACK = 0.2;
/** The target is reached if no node is farther from it than this share of the gap of contacts. */
const MET = 0.1;
/** Implicit Euler for an isometric shell (Wang 2012, table 3.1), with one or the other coupling to collisions. */
export class IsometricIntegrator {
  readonly #shell: Shell;
  readonly #handler: CollisionHandler;
  readonly #settings: IsometricSettings;
  readonly #bending: ShellBending;
  readonly #inextensibility: Inextensibility;
  readonly #projection: Projection;

  constructor(shell: Shell, handler: CollisionHandler, settings: IsometricSettings) {
    this.#shell = shell;
    this.#handler = handler;
    this.#settings = settings;
    const { mesh, model, bending } = shell;
    this.#bending = new ShellBending(mesh, model.start, bending, settings.timeStep);
    this.#inextensibility = new Inextensibility(mesh, model.start);
    const cloth: Constraint[] = [this.#bending, this.#inextensibility, conforming(mesh), border(mesh)];
    this.#projection = new Projection(cloth, model.inverseMasses, model.start, settings.projection);
  }

  async step(state: State): Promise<{ readonly state: State; readonly record: IsometricRecord }> {
    const { coupling, timeStep: h, maxCalls, contactDistance, contact, strainTolerance } = this.#settings;
    const isStaggered = coupling === 'staggered';
    const predicted = this.#predict(state);
    this.#bending.turnTo(predicted);
    let contacts = isStaggered ? NO_CONTACTS : state.contacts;
    let x = state.x;
    let [calls, iterations, cutShort, distance, projectionMs, serviceMs] = [0, 0, 0, 0, 0, 0];
    for (;;) {
      const began = performance.now();
      const projected = this.#project(predicted, contacts, state.x);
      iterations += projected.iterations;
      if (projected.isCutShort) cutShort++;
      const asked = performance.now();
      const y = projected.x;
      const { positions, report, contacts: near } = await this.#handler.step(y, contactDistance);
      projectionMs += asked - began;
      serviceMs += performance.now() - asked;
      calls++;
      x = positions;
      distance = this.#distance(x, y);
      const used = contacts.count;
      // Pairs through which the target has passed, or that have stopped it, become contacts of the next one.
      const limit = contact.gap * (1 + GAP_SLACK);
      contacts = chooseContacts(near, (c) => gapOf(near, c, y) <= limit);
      if (
        !isStaggered &&
        calls < maxCalls &&
        (distance > MET * contact.gap || this.#inextensibility.strain(x) > strainTolerance)
      )
        continue;
      const velocity = x.map((value, i) => (value - state.x[i]!) / h);
      const strain = this.#inextensibility.strain(x);
      const targetStrain = this.#inextensibility.strain(y);
      const bendingEnergy = this.#bending.energy(x);
      const edgeStrain = this.#edgeStrain(x);
      const targetEdgeStrain = this.#edgeStrain(y);
      const counts = { calls, iterations, cutShort, contacts: used };
      return {
        state: { frame: state.frame + 1, x, velocity, contacts },
        record: {
          ...counts,
          ...{
            strain,
            targetStrain,
            edgeStrain,
            targetEdgeStrain,
            bendingEnergy,
            distance,
            projectionMs,
            serviceMs,
            report,
          },
        },
      };
    }
  }

  /** x̃ = x + h v + h² g; kinematic nodes are at their prescribed positions. */
  #predict({ frame, x, velocity }: State): Float64Array {
    const { timeStep: h } = this.#settings;
    const { gravity, prescribe } = this.#shell.model;
    const predicted = x.map((value, i) => value + h * velocity[i]! + h * h * gravity[i % 3]!);
    prescribe((frame + 1) * h, predicted);
    return predicted;
  }

  #project(predicted: Float64Array, contacts: Contacts, previous: Float64Array): Projected {
    const { contact, strainTolerance } = this.#settings;
    const others = contacts.count > 0 ? [new ContactConstraint(contacts, previous, contact)] : [];
    const isDone = (x: Float64Array): boolean => this.#inextensibility.strain(x) <= strainTolerance;
    return this.#projection.project(predicted, others, isDone);
  }

  #distance(x: Float64Array, y: Float64Array): number {
    const { isKinematic } = this.#shell.model;
    let most = 0;
    for (let v = 0; v < isKinematic.length; v++) {
      if (isKinematic[v]) continue;
      const i = 3 * v;
      most = Math.max(most, Math.hypot(x[i]! - y[i]!, x[i + 1]! - y[i + 1]!, x[i + 2]! - y[i + 2]!));
    }
    return most;
  }

  #edgeStrain(x: Float64Array): number {
    const { mesh, model } = this.#shell;
    let most = 0;
    for (let e = 0; e < mesh.edges.length; e += 2) {
      const [a, b] = [3 * mesh.edges[e]!, 3 * mesh.edges[e + 1]!];
      const length = (p: Float64Array): number =>
        Math.hypot(p[a]! - p[b]!, p[a + 1]! - p[b + 1]!, p[a + 2]! - p[b + 2]!);
      most = Math.max(most, Math.abs(length(x) / length(model.start) - 1));
    }
    return most;
  }
}
