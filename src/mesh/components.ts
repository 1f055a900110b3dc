/**
 * Counts connected components over all elements; vertices of no element do not count.
 *
 * @param kinds arrays of elements (uint32[width·n]) with their widths
 * @param isUsed uint8[V], 1 = the vertex is in an element
 */
export function countComponents(
  kinds: readonly (readonly [elements: Uint32Array, width: number])[],
  isUsed: Uint8Array,
): number {
  const parent = new Uint32Array(isUsed.length);
  let components = 0;
  for (let vertex = 0; vertex < parent.length; vertex++) {
    parent[vertex] = vertex;
    components += isUsed[vertex]!;
  }
  const find = (vertex: number): number => {
    let root = vertex;
    while (parent[root] !== root) root = parent[root] = parent[parent[root]!]!;
    return root;
  };
  for (const [elements, width] of kinds) {
    for (let start = 0; start < elements.length; start += width) {
      let root = find(elements[start]!);
      for (let i = start + 1; i < start + width; i++) {
        const other = find(elements[i]!);
        if (other === root) continue;
        // The lower id becomes the root; with path halving this stays near-linear without ranks.
        const low = Math.min(root, other);
        parent[Math.max(root, other)] = low;
        root = low;
        components--;
      }
    }
  }
  return components;
}
