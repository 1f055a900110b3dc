import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, Positions } from '../contract/mesh.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { PartTarget, StepRequest } from '../contract/sessions.js';
import { checkFlags, invertMasses, readKinematic } from '../mesh/vertex-data.js';

/** Turns what a step says into what it means for the session it is for. */

/**
 * Lengths, names and flags: what can be said of a step before it waits for its turn. Whether coordinates are numbers is
 * the worker's to say, which has to read them all anyway.
 *
 * @throws SIZE_MISMATCH, INVALID_PARAMETER, INVALID_MESH, NOT_FINITE
 */
export function checkStep(request: StepRequest, mesh: MeshInput): void {
  const { target, partTargets, start, kinematic, masses } = request;
  if (target && partTargets && partTargets.length > 0) {
    throw new IntersticeError('INVALID_PARAMETER', 'a step has target or partTargets, not both');
  }
  if (target) checkLength('target', target.length, 3 * mesh.vertexCount);
  if (start) checkLength('start', start.length, 3 * mesh.vertexCount);
  checkPartTargets(partTargets ?? [], mesh);
  if (kinematic) checkKinematic(kinematic, mesh.vertexCount);
  if (masses) checkLength('masses', masses.length, mesh.vertexCount);
  if (kinematic || masses) {
    // Another set of kinematic vertices is another mean mass.
    const changed = changeMesh(request, mesh)!;
    invertMasses(changed.masses, readKinematic(changed));
  }
}

function checkPartTargets(partTargets: readonly PartTarget[], mesh: MeshInput): void {
  const named = new Set<string>();
  for (const { part: name, target } of partTargets) {
    const part = mesh.parts?.find((candidate) => candidate.name === name);
    if (!part) {
      const known = mesh.parts?.length ? `it has ${listNames(mesh)}` : 'it has no parts';
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `partTargets names part ${quote(name)}, which this session's mesh does not have; ${known}`,
      );
    }
    if (named.has(name)) {
      throw new IntersticeError('INVALID_PARAMETER', `partTargets names part ${quote(name)} twice`);
    }
    named.add(name);
    checkLength(`the target of part ${quote(name)}`, target.length, 3 * part.vertexCount);
  }
}

function checkKinematic(kinematic: Uint8Array, vertexCount: number): void {
  checkLength('kinematic', kinematic.length, vertexCount);
  checkFlags(kinematic);
}

function checkLength(name: string, length: number, expected: number): void {
  if (length === expected) return;
  throw new IntersticeError('SIZE_MISMATCH', `${name} has ${length} entries, expected ${expected}`);
}

const NAMES_LISTED = 8;

function listNames({ parts = [] }: MeshInput): string {
  const names = parts.slice(0, NAMES_LISTED).map(({ name }) => quote(name));
  return parts.length > NAMES_LISTED ? `${names.join(', ')} and ${parts.length - NAMES_LISTED} more` : names.join(', ');
}

function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}

/**
 * The target of the whole mesh. Parts that are not named keep their last target, and with neither target nor parts all of
 * them do. Where the pieces differ in scalar the whole becomes float64: a float32 is a double exactly, so every piece is
 * met on the very numbers that were sent, and an answer has the scalar of its target.
 *
 * @param last the last accepted target; before the first step the state that the session was opened with
 */
export function composeTarget({ target, partTargets = [] }: StepRequest, mesh: MeshInput, last: Positions): Positions {
  if (target) return target;
  if (partTargets.length === 0) return last;
  const pieces = partTargets.map(({ part: name, target }) => {
    const part = mesh.parts!.find((candidate) => candidate.name === name)!;
    return { offset: 3 * part.firstVertex, target };
  });
  // A last target of which nothing is kept has no say in the scalar.
  const isWhole = partTargets.length === mesh.parts!.length;
  const isDouble = [...(isWhole ? [] : [last]), ...pieces.map(({ target }) => target)].some(
    (positions) => positions instanceof Float64Array,
  );
  const whole = isDouble ? new Float64Array(last.length) : new Float32Array(last.length);
  if (!isWhole) whole.set(last);
  for (const { offset, target } of pieces) whole.set(target, offset);
  return whole;
}

/**
 * The mesh from this step on; undefined = as before. Kinematic flags are replaced as a whole, those that came from a part
 * included: a vertex is kinematic from now on if its flag is 1, and otherwise not.
 */
export function changeMesh({ kinematic, masses }: StepRequest, mesh: MeshInput): MeshInput | undefined {
  if (!kinematic && !masses) return undefined;
  const changed = masses ? { ...mesh, masses } : mesh;
  if (!kinematic) return changed;
  const { parts } = mesh;
  return {
    ...changed,
    kinematic,
    ...(parts ? { parts: parts.map(({ kinematic: _replaced, ...part }) => part) } : {}),
  };
}

/** What is set in `over` takes the place of what is in `base`. */
export function layOver(base: ParametersInput, over: ParametersInput | undefined): ParametersInput {
  const set = Object.entries(over ?? {}).filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(set) };
}
