import type { ElementRef } from '../contract/elements.js';
import { IntersticeError } from '../contract/errors.js';
import { ascendingRows, findRepeatedRow } from './rows.js';

/** Kinds of elements and how many vertices each has. */
const ELEMENT_WIDTH = { triangle: 3, segment: 2, particle: 1, tetrahedron: 4 } as const;
export type ElementKind = keyof typeof ELEMENT_WIDTH;

/** Names element `index` of `elements` (uint32[width·n]) in the caller's numbering. */
export function refer(kind: string, elements: Uint32Array, width: number, index: number): ElementRef {
  return { kind, index, vertices: Array.from(elements.subarray(index * width, (index + 1) * width)) };
}

/** "triangle 7 (3, 9, 4)" */
export function describe({ kind, index, vertices }: ElementRef): string {
  return `${kind} ${index} (${vertices.join(', ')})`;
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Copies a caller's element array and refuses elements that no collision mesh can contain.
 *
 * @param elements uint32[width·n]; neither kept nor changed
 * @throws IntersticeError INDEX_OUT_OF_RANGE for an id that is not a vertex; INVALID_MESH for an element that repeats a
 *   vertex, or the vertices of an earlier element of its kind in any order. The element is named.
 */
export function copyElements(elements: Uint32Array | undefined, kind: ElementKind, vertexCount: number): Uint32Array {
  const copy = elements === undefined ? new Uint32Array(0) : new Uint32Array(elements);
  const width = ELEMENT_WIDTH[kind];
  checkRange(copy, kind, width, vertexCount);
  const rows = ascendingRows(copy, width);
  checkRepeatedVertex(copy, rows, kind, width);
  checkDuplicates(copy, rows, kind, width, vertexCount);
  return copy;
}

function checkRange(elements: Uint32Array, kind: ElementKind, width: number, vertexCount: number): void {
  for (let i = 0; i < elements.length; i++) {
    if (elements[i]! < vertexCount) continue;
    const element = refer(kind, elements, width, Math.floor(i / width));
    throw new IntersticeError(
      'INDEX_OUT_OF_RANGE',
      `${capitalise(describe(element))} refers to vertex ${elements[i]}, but there are ${vertexCount} vertices.`,
      { element },
    );
  }
}

/** In an ascending row, equal ids are neighbours. */
function checkRepeatedVertex(elements: Uint32Array, rows: Uint32Array, kind: ElementKind, width: number): void {
  for (let start = 0; start < rows.length; start += width) {
    for (let i = start + 1; i < start + width; i++) {
      if (rows[i] !== rows[i - 1]) continue;
      const element = refer(kind, elements, width, start / width);
      throw new IntersticeError(
        'INVALID_MESH',
        `${capitalise(describe(element))} uses vertex ${rows[i]} more than once.`,
        {
          element,
        },
      );
    }
  }
}

function checkDuplicates(
  elements: Uint32Array,
  rows: Uint32Array,
  kind: ElementKind,
  width: number,
  vertexCount: number,
): void {
  // The message names the first repetition in the caller's numbering.
  const found = findRepeatedRow(rows, width, vertexCount);
  if (!found) return;
  const { repeated, original } = found;
  const element = refer(kind, elements, width, repeated);
  throw new IntersticeError(
    'INVALID_MESH',
    `${capitalise(describe(element))} has the same vertices as ${describe(refer(kind, elements, width, original))}.`,
    { element, hint: 'Send every element once, whatever the order of its vertices.' },
  );
}
