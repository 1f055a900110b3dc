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
