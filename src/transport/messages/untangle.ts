import type { LayerHint, LayerSide, UntangleOptions, UntangleRequest } from '../../contract/untangle.js';
import type { UntangledState } from '../../contract/untangle-answer.js';
import {
  enumName,
  fieldsOf,
  number,
  text,
  toMesh,
  toParameters,
  toPriority,
  toRequiredPositions,
  toSeconds,
  withSet,
} from './fields.js';
import type { WireMessage } from './wire-message.js';

/** Converts between the messages of Untangle and its plain data. */

/** @throws MALFORMED_BODY (mesh or positions missing), SIZE_MISMATCH, INVALID_PARAMETER */
export function toUntangleRequest(
  message: WireMessage,
  { path = '' }: { readonly path?: string } = {},
): UntangleRequest {
  const field = fieldsOf(path);
  return withSet<UntangleRequest>({
    mesh: toMesh(message.mesh, field('mesh')),
    positions: toRequiredPositions(message.positions, field('positions')),
    parameters: toParameters(message.parameters, field('parameters')),
    ...toUntangleOptions(message.options, field('options')),
    timeBudgetSeconds: toSeconds(message.timeBudget),
    priority: toPriority(message.priority, field('priority')),
  });
}

/** @returns undefined if the message is unset */
export function toUntangleOptions(value: unknown, path: string): UntangleOptions | undefined {
  if (value === undefined || value === null) return undefined;
  const { layers, turned, maxIterations, maxDisplacement } = value as WireMessage;
  const hints = (layers ?? []) as readonly WireMessage[];
  const ids = (turned ?? []) as readonly unknown[];
  return withSet<UntangleOptions>({
    layers: hints.length > 0 ? hints.map((hint, index) => toLayer(hint, `${path}.layers[${index}]`)) : undefined,
    turned: ids.length > 0 ? ids.map(Number) : undefined,
    maxIterations: number(maxIterations),
    maxDisplacement: number(maxDisplacement),
  });
}

function toLayer({ inner, outer, side }: WireMessage, path: string): LayerHint {
  return withSet<LayerHint>({
    inner: text(inner) ?? '',
    outer: text(outer) ?? '',
    side: enumName('LayerSide', side, `${path}.side`) as LayerSide | undefined,
  });
}

/** Converts an untangled state into the contract's UntangleResponse. */
export function fromUntangled({ positions, report, regions }: UntangledState) {
  const scalar = positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  return { positions: { data: positions, scalar }, report, regions };
}
