/** The doubles next to a positive one. */
const step = (x: number, by: bigint): number => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + by);
  return view.getFloat64(0);
};

export const nextUp = (x: number): number => step(x, 1n);
export const nextDown = (x: number): number => step(x, -1n);
