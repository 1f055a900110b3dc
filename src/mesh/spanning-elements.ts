import { IntersticeError } from '../errors.js';
import type { PartInput } from './types.js';

/**
 * Pairs of ignored parts are left out pair by pair of elements, each wholly in its part. An element that spans two parts is
 * ignored by none, so what it meets is promised; but the vertex–triangle and edge–edge pairs that guard the promise may lie
 * wholly in ignored parts. Rather than break the promise, or hold back what was to be ignored, such a mesh is refused.
 *
 * @param corners vertex ids, `size` an element
 * @throws UNIMPLEMENTED naming the first element that spans parts of which one is in `ignoredPartPairs`
 */
export function refuseSpanning(
  corners: Uint32Array,
  size: 2 | 3 | 4,
  kind: string,
  parts: readonly PartInput[],
  partOfVertex: Int32Array,
  ignoredPartPairs: Uint32Array,
): void {
  if (ignoredPartPairs.length === 0) return;
  const isIgnoring = new Uint8Array(parts.length);
  for (const part of ignoredPartPairs) isIgnoring[part] = 1;
  for (let i = 0; i < corners.length; i += size) {
    const first = partOfVertex[corners[i]!]!;
    for (let k = i + 1; k < i + size; k++) {
      const other = partOfVertex[corners[k]!]!;
      if (other === first || (isIgnoring[first] === 0 && isIgnoring[other] === 0)) continue;
      const index = i / size;
      throw new IntersticeError(
        'UNIMPLEMENTED',
        `${kind} ${index} spans the parts ${parts[first]!.name} and ${parts[other]!.name}, and ignoredPartPairs names one of them: ignoring parts that share elements is not built yet`,
        {
          hint: 'Make the elements of an ignored part a part of their own, or leave the pair out of ignoredPartPairs.',
          element: { kind, index, vertices: [...corners.subarray(i, i + size)] },
        },
      );
    }
  }
}
