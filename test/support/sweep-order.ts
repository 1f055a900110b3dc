import type { Colouring } from '../../src/solver/colouring.js';

/** Priority of the contact of pair p in a sweep on the device: gpu/kernels/backward/sweep-order.wgsl */
export function placeOf(p: number, count: number, seed: number): number {
  const bits = Math.max(1, 32 - Math.clz32(Math.max(1, count) - 1));
  const mask = bits === 32 ? -1 : (1 << bits) - 1;
  const shift = Math.max(1, bits >> 1);
  const a = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 1;
  const b = Math.imul(seed + 0x7f4a7c15, 0xc2b2ae35);
  const c = Math.imul(seed ^ 0x27d4eb2f, 0x165667b1) | 1;
  let v = (Math.imul(p, a) + b) & mask;
  v ^= v >>> shift;
  v = Math.imul(v, c) & mask;
  return (v ^ (v >>> shift)) >>> 0;
}

/**
 * The order of the sweeps of a step of the pull-back on the device, gpu/kernels/pull-back/colours.wgsl: the greedy
 * colouring of the contacts in the order of their places, the last colour first.
 *
 * @param corner int32[4·n] vertices of each contact, −1 where unused
 * @param place of a contact
 */
export function colourByPlaces(
  {
    count,
    corner,
    inverseMass,
  }: { readonly count: number; readonly corner: Int32Array; readonly inverseMass: Float32Array },
  place: (contact: number) => number,
): Colouring {
  const byPlace = Array.from({ length: count }, (_, c) => c).sort((a, b) => place(a) - place(b));
  const used = new Map<number, Set<number>>();
  const members: number[][] = [];
  for (const c of byPlace) {
    const movable = [...corner.subarray(4 * c, 4 * c + 4)].filter((v) => v >= 0 && inverseMass[v] > 0);
    let colour = 0;
    while (movable.some((v) => used.get(v)?.has(colour))) colour++;
    for (const v of movable) used.set(v, (used.get(v) ?? new Set()).add(colour));
    members[colour] = [...(members[colour] ?? []), c];
  }
  members.reverse();
  const offsets = [0];
  for (const { length } of members) offsets.push(offsets.at(-1)! + length);
  return { order: Uint32Array.from(members.flat()), offsets: Uint32Array.from(offsets), colours: members.length };
}
