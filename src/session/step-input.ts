import { IntersticeError } from '../contract/errors.js';
import type { MeshInput, PartInput, Positions } from '../contract/mesh.js';
import type { ParametersInput } from '../contract/parameters.js';
import type { PartTarget, StepRequest } from '../contract/sessions.js';
import { listNames, quoteName } from '../mesh/part-names.js';
import { hintOfLength, scalarOf } from '../mesh/positions.js';
import { checkFlags, invertMasses, readKinematic } from '../mesh/vertex-data.js';

/** The meaning of the fields of a step for its session. */

/**
 * Checks lengths, names and flags before the step waits for its turn. The lane checks the coordinates, because it reads all
 * of them anyway.
 *
 * @throws SIZE_MISMATCH, INVALID_PARAMETER, INVALID_MESH, NOT_FINITE
 */
export function checkStep(request: StepRequest, mesh: MeshInput): void {
  const { target, partTargets, scalar, start, kinematic, masses } = request;
  if (target && partTargets && partTargets.length > 0) {
    throw new IntersticeError('INVALID_PARAMETER', 'A step takes target or partTargets, not both.');
  }
  if (scalar && (target || (partTargets && partTargets.length > 0))) {
    throw new IntersticeError('INVALID_PARAMETER', 'A step takes scalar only without target and partTargets.');
  }
  if (target) checkCoordinates('Field target', target.length, mesh.vertexCount);
  if (start) checkCoordinates('Field start', start.length, mesh.vertexCount);
  checkPartTargets(partTargets ?? [], mesh);
  if (kinematic) checkKinematic(kinematic, mesh.vertexCount);
  if (masses) checkLength('Field masses', masses.length, mesh.vertexCount);
  if (kinematic || masses) {
    // The mean mass depends on which vertices are kinematic, so flags and masses are checked together.
    const changed = changeMesh(request, mesh)!;
    invertMasses(changed.masses, readKinematic(changed));
  }
}

function checkPartTargets(partTargets: readonly PartTarget[], mesh: MeshInput): void {
  if (partTargets.length === 0) return;
  const named = new Set<string>();
  const parts = partsByName(mesh);
  for (const { part: name, target } of partTargets) {
    const part = parts.get(name);
    if (!part) {
      const known = mesh.parts?.length ? `The mesh has ${listNames(mesh.parts)}.` : 'The mesh has no parts.';
      throw new IntersticeError(
        'INVALID_PARAMETER',
        `Field partTargets names part ${quoteName(name)}, which the mesh of this session does not have. ${known}`,
      );
    }
    if (named.has(name)) {
      throw new IntersticeError('INVALID_PARAMETER', `Field partTargets names part ${quoteName(name)} twice.`);
    }
    named.add(name);
    checkCoordinates(`The target of part ${quoteName(name)}`, target.length, part.vertexCount);
  }
}

/** A mesh may have a hundred thousand parts, and a step a target for each. */
const partsByName = ({ parts = [] }: MeshInput): ReadonlyMap<string, PartInput> =>
  new Map(parts.map((part) => [part.name, part]));

function checkKinematic(kinematic: Uint8Array, vertexCount: number): void {
  checkLength('Field kinematic', kinematic.length, vertexCount);
  checkFlags(kinematic);
}

const checkCoordinates = (name: string, length: number, vertexCount: number): void =>
  checkLength(name, length, 3 * vertexCount, hintOfLength(length, 3 * vertexCount));

function checkLength(name: string, length: number, expected: number, more: { readonly hint?: string } = {}): void {
  if (length === expected) return;
  throw new IntersticeError('SIZE_MISMATCH', `${name} has ${length} entries, expected ${expected}.`, more);
}

/**
 * The target of the whole mesh. Parts that are not named keep their last target; with neither target nor partTargets
 * all parts keep theirs. If the pieces differ in scalar, the whole becomes float64: every float32 is exactly a double,
 * so each piece keeps exactly the numbers that were sent, and an answer has the scalar of its target.
 *
 * @param last [3·V] the last accepted target; before the first step, the state that the session was created with
 * @throws INVALID_PARAMETER for a scalar that would round a kept target
 */
export function composeTarget(
  { target, partTargets = [], scalar }: StepRequest,
  mesh: MeshInput,
  last: Positions,
): Positions {
  if (target) return target;
  if (partTargets.length === 0) return keepTarget(last, scalar);
  const parts = partsByName(mesh);
  const pieces = partTargets.map(({ part, target }) => ({ offset: 3 * parts.get(part)!.firstVertex, target }));
  // A last target of which nothing is kept does not affect the scalar.
  const isWhole = partTargets.length === mesh.parts!.length;
  const isDouble = [...(isWhole ? [] : [last]), ...pieces.map(({ target }) => target)].some(
    (positions) => positions instanceof Float64Array,
  );
  const whole = isDouble ? new Float64Array(last.length) : new Float32Array(last.length);
  if (!isWhole) whole.set(last);
  for (const { offset, target } of pieces) whole.set(target, offset);
  return whole;
}

/** The last target in the scalar that a step asks for. @throws INVALID_PARAMETER if that would round it */
function keepTarget(last: Positions, scalar: StepRequest['scalar']): Positions {
  const own = scalarOf(last);
  if (scalar === undefined || scalar === own) return last;
  if (scalar === 'FLOAT64') return Float64Array.from(last);
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `The step asks for scalar ${scalar} and continues towards the last target, which is ${own}: it would be rounded.`,
    { hint: `Ask for ${own}, or send the target.` },
  );
}

/**
 * The mesh from this step on; undefined = unchanged. The flags replace all earlier kinematic flags, including those of
 * parts: from now on a vertex is kinematic if and only if its flag is 1.
 */
export function changeMesh(
  { kinematic, masses }: { readonly kinematic?: Uint8Array | undefined; readonly masses?: Float32Array | undefined },
  mesh: MeshInput,
): MeshInput | undefined {
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

/** The fields that `over` sets replace those that `base` sets. */
export function layOver(base: ParametersInput, over: ParametersInput | undefined): ParametersInput {
  const set = Object.entries(over ?? {}).filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(set) };
}
