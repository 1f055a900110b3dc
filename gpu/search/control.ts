import type { Settings } from '../../src/solver/settings.js';
import { loadKernel, scalarFields } from '../shaders.js';

/** Fields of SearchControl (gpu/kernels/search/search-control.wgsl), each with its word and type. */
const fields = scalarFields(loadKernel('search/search-control'), 'SearchControl');
const words = new Map([...fields.keys()].map((name, word) => [name, word]));

export const CONTROL_BYTES = 4 * fields.size;

/** What is asked of a search; the numbers are those of Control.wantsSearch too. */
export const SEARCH_MODE = { NONE: 0, PART: 1, ALL: 2, RESUME: 3 } as const;
export type SearchMode = (typeof SEARCH_MODE)[keyof typeof SEARCH_MODE];

export type ControlValues = Readonly<Record<string, number>>;

/** Word of a field. @throws Error for a name that is not there */
export function controlWord(name: string): number {
  const word = words.get(name);
  if (word === undefined) throw new Error(`SearchControl has no field ${name}`);
  return word;
}

/** The four bytes of one field. */
export function encodeField(name: string, value: number): Uint32Array<ArrayBuffer> {
  if (fields.get(name) !== 'f32') return Uint32Array.of(value);
  return new Uint32Array(Float32Array.of(value).buffer);
}

export function decodeControl(bytes: ArrayBuffer): ControlValues {
  const view = new DataView(bytes);
  const values: Record<string, number> = {};
  for (const [name, type] of fields) {
    const at = 4 * controlWord(name);
    values[name] = type === 'f32' ? view.getFloat32(at, true) : view.getUint32(at, true);
  }
  return values;
}

/** Lengths and rules of a scene as the control block wants them (fillTrustBoxes, Proximity of the CPU engine). */
export function controlOf(settings: Settings): ControlValues {
  const isPoint = settings.guard === 'RADIUS';
  return {
    leap: settings.leap,
    reach: settings.reach,
    growth: (isPoint ? settings.searchRadiusMax : settings.delta) / 2,
    cut: isPoint ? settings.searchRadiusMax : settings.delta,
    isPoint: isPoint ? 1 : 0,
    skipsKinematic: settings.skipKinematicPairs ? 1 : 0,
  };
}
