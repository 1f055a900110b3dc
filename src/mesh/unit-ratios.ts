/** Ratios of units in which meshes are sent, with the names of the units. */
const RATIOS: readonly (readonly [factor: number, units: string])[] = [
  [1000, 'metres to millimetres'],
  [304.8, 'feet to millimetres'],
  [100, 'metres to centimetres'],
  [39.37, 'metres to inches'],
  [30.48, 'feet to centimetres'],
  [25.4, 'inches to millimetres'],
  [12, 'feet to inches'],
  [10, 'centimetres to millimetres'],
  [2.54, 'inches to centimetres'],
];

/** How near a factor must be to one of {@link RATIOS} to be named. */
const TOLERANCE = 0.02;

/** The ratio of units that a factor ≥ 1 is near to. */
export function findUnitRatio(times: number): { readonly factor: number; readonly units: string } | undefined {
  const known = RATIOS.find(([factor]) => Math.abs(times / factor - 1) < TOLERANCE);
  return known && { factor: known[0], units: known[1] };
}
