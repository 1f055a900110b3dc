/** The elements at each vertex. */
export interface ElementsByVertex {
  /** uint32[V + 1] */
  readonly offsets: Uint32Array;
  /** those of vertex v are at offsets[v] to offsets[v + 1] − 1, ascending */
  readonly elements: Uint32Array;
}

/** @param corners uint32[size·n] vertices of each element */
export function listElements(corners: Uint32Array, size: number, vertexCount: number): ElementsByVertex {
  const offsets = new Uint32Array(vertexCount + 1);
  for (const v of corners) offsets[v + 1]++;
  for (let v = 0; v < vertexCount; v++) offsets[v + 1] += offsets[v];
  const elements = new Uint32Array(corners.length);
  const end = offsets.slice(0, vertexCount);
  for (let k = 0; k < corners.length; k++) elements[end[corners[k]]++] = Math.floor(k / size);
  return { offsets, elements };
}

export function elementsAt({ offsets, elements }: ElementsByVertex, vertex: number): Uint32Array {
  return elements.subarray(offsets[vertex], offsets[vertex + 1]);
}
