import type { Contacts } from '../contract/report.js';
import type { EngineHolds } from '../solver/engine.js';
import type { CoordinateFrame } from '../solver/frame.js';
import { PairLookup } from './pair-lookup.js';

/** Contacts with the multipliers of the engine's rows, 0 if a contact has none; unchanged if the engine knows none. */
export function withMultipliers(
  contacts: Contacts,
  holds: EngineHolds | undefined,
  { scale }: CoordinateFrame,
): Contacts {
  const pushes = holds?.pushes;
  if (!pushes) return contacts;
  const lookup = new PairLookup({ kinds: pushes.kinds.map((kind) => kind + 1), vertices: pushes.vertices });
  const multipliers = new Float32Array(contacts.kinds.length);
  for (let c = 0; c < multipliers.length; c++) {
    const row = lookup.find(contacts, c);
    if (row >= 0) multipliers[c] = pushes.multipliers[row]! / scale;
  }
  return { ...contacts, multipliers };
}
