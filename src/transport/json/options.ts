import { IntersticeError } from '../../contract/errors.js';
import type { KinematicPairs, ParametersInput } from '../../contract/parameters.js';
import type { IncludeInput, OnBudget, Priority } from '../../contract/requests.js';
import { listNames, quoteName } from '../../mesh/part-names.js';
import { toInclude, toKinematicPairs, toOnBudget, toParameters, toPriority, toSeconds } from '../messages/fields.js';
import { messageShape } from '../messages/schema.js';
import type { WireMessage } from '../messages/wire-message.js';
import { decodeJson } from './decode.js';
import { nameOf } from './scalars.js';

/** The `options` of a multipart request, or of the command line's `--options FILE`. */
export interface Options {
  readonly parameters: ParametersInput;
  /** uint8[V], 1 = kinematic; absent if the options name no kinematic vertices. */
  readonly kinematic?: Uint8Array;
  readonly include?: IncludeInput;
  readonly timeBudgetSeconds?: number;
  readonly onBudget?: OnBudget;
  readonly priority?: Priority;
  /** Check only. */
  readonly reportPairsCloserThan?: number;
  /** Check only. */
  readonly maxPairs?: number;
  /** Check only; a resolve has it in its parameters. */
  readonly kinematicPairs?: KinematicPairs;
}

export interface OptionsContext {
  readonly vertexCount: number;
  /** The files in order, for `kinematicParts`. */
  readonly parts: readonly { readonly name: string; readonly firstVertex: number; readonly vertexCount: number }[];
  /** Options of the other operation are refused; if absent, all options are accepted. */
  readonly operation?: 'resolve' | 'check';
  /** Whether the answer is a stream, which alone can send progress. Default false. */
  readonly takesProgress?: boolean;
  /** Further options that the caller refuses, by name: hints do not suggest them. */
  readonly unsupported?: readonly string[];
  /** Prefix of the paths in error messages; default none. */
  readonly path?: string;
}

interface OptionsMessage extends WireMessage {
  readonly kinematicFrom?: number;
  /** A typed array if it is long and comes from another thread. */
  readonly kinematicVertices?: readonly number[] | Float64Array;
  readonly kinematicParts?: readonly string[];
  readonly reportPairsCloserThan?: number;
  readonly maxPairs?: number;
}

const ONLY_RESOLVE = ['parameters', 'include', 'onBudget', 'priority'];
const ONLY_CHECK = ['reportPairsCloserThan', 'maxPairs', 'kinematicPairs'];

/**
 * Decodes and converts options.
 * @param value result of JSON.parse
 * @throws like {@link decodeJson} and {@link fromOptions}
 */
export function readOptions(value: unknown, context: OptionsContext): Options {
  const unsupported = [...foreignTo(context.operation), ...(context.unsupported ?? [])];
  return fromOptions(decodeJson('Options', value, context.path ?? '', unsupported).message, context);
}

/**
 * Converts a decoded `Options` message. A vertex is kinematic if any of `kinematicFrom`, `kinematicVertices` and
 * `kinematicParts` names it.
 *
 * @throws INDEX_OUT_OF_RANGE for an unknown vertex, INVALID_PARAMETER for an unknown or ambiguous file name, or for an
 *   option of the other operation
 */
export function fromOptions(options: WireMessage, context: OptionsContext): Options {
  const path = context.path ?? '';
  const message = options as OptionsMessage;
  refuseOtherOptions(message, context, path);
  const kinematic = markKinematic(message, context, path);
  const include = toInclude(message.include, nameOf(path, 'include'), context.takesProgress);
  const timeBudgetSeconds = toSeconds(message.timeBudget);
  const onBudget = toOnBudget(message.onBudget, nameOf(path, 'onBudget'));
  const priority = toPriority(message.priority, nameOf(path, 'priority'));
  const kinematicPairs = toKinematicPairs(message.kinematicPairs, nameOf(path, 'kinematicPairs'));
  return {
    parameters: toParameters(message.parameters, nameOf(path, 'parameters')),
    ...(kinematic ? { kinematic } : {}),
    ...(include ? { include } : {}),
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget ? { onBudget } : {}),
    ...(priority ? { priority } : {}),
    ...(message.reportPairsCloserThan === undefined ? {} : { reportPairsCloserThan: message.reportPairsCloserThan }),
    ...(message.maxPairs === undefined ? {} : { maxPairs: message.maxPairs }),
    ...(kinematicPairs ? { kinematicPairs } : {}),
  };
}

/** Options of the other operation. */
function foreignTo(operation: OptionsContext['operation']): readonly string[] {
  if (operation === undefined) return [];
  return operation === 'check' ? ONLY_RESOLVE : ONLY_CHECK;
}

function refuseOtherOptions(message: OptionsMessage, context: OptionsContext, path: string): void {
  const { operation, unsupported = [] } = context;
  const foreign = foreignTo(operation);
  const found = foreign.find((name) => message[name] !== undefined);
  if (found === undefined) return;
  const fields = messageShape('Options').fields.map((field) => field.jsonName);
  const known = fields.filter((name) => !foreign.includes(name) && !unsupported.includes(name));
  throw new IntersticeError('INVALID_PARAMETER', `${nameOf(path, found)} is not an option of a ${operation}.`, {
    hint: `Options of a ${operation}: ${known.join(', ')}.`,
  });
}

function markKinematic(message: OptionsMessage, context: OptionsContext, path: string): Uint8Array | undefined {
  const { kinematicFrom, kinematicVertices, kinematicParts } = message;
  if (kinematicFrom === undefined && !kinematicVertices && !kinematicParts) return undefined;
  const kinematic = new Uint8Array(context.vertexCount);
  if (kinematicFrom !== undefined) {
    // The vertex count itself is allowed: a script that computes the boundary may find no kinematic vertex.
    if (kinematicFrom > context.vertexCount) {
      throw new IntersticeError(
        'INDEX_OUT_OF_RANGE',
        `${nameOf(path, 'kinematicFrom')} is ${kinematicFrom}, but there are ${context.vertexCount} vertices.`,
      );
    }
    kinematic.fill(1, kinematicFrom);
  }
  for (const [i, vertex] of (kinematicVertices ?? []).entries()) {
    if (vertex >= context.vertexCount) {
      throw new IntersticeError(
        'INDEX_OUT_OF_RANGE',
        `${nameOf(path, 'kinematicVertices')}[${i}] is ${vertex}, but there are ${context.vertexCount} vertices.`,
        { element: { kind: 'vertex', index: vertex, vertices: [vertex] } },
      );
    }
    kinematic[vertex] = 1;
  }
  for (const [i, name] of (kinematicParts ?? []).entries()) {
    const named = context.parts.filter((part) => part.name === name);
    if (named.length !== 1) {
      const place = `${nameOf(path, 'kinematicParts')}[${i}]`;
      throw new IntersticeError(
        'INVALID_PARAMETER',
        named.length === 0
          ? `${place} is ${quoteName(name)}, but no file has that name.`
          : `${place} is ${quoteName(name)}, but ${named.length} files have that name.`,
        { hint: named.length === 0 ? `File names: ${listNames(context.parts)}.` : 'Give the files different names.' },
      );
    }
    for (const part of named) kinematic.fill(1, part.firstVertex, part.firstVertex + part.vertexCount);
  }
  return kinematic;
}
