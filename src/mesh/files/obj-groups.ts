import type { PartInput } from '../../contract/mesh.js';
import { Words } from './lines.js';
import type { MeshFile } from './types.js';

/** Statements that begin an object or a group. */
const BEGINNINGS: ReadonlySet<string> = new Set(['o', 'g']);

/**
 * The objects and groups of an OBJ file as parts of its mesh, if the elements of each use a range of vertices that no
 * other one uses. A vertex without elements belongs to the range before it, or to the first range.
 *
 * @returns parts that cover all vertices; undefined if names and ranges do not match, or there is only one name
 */
export function partsOfGroups({ sources = [], vertexCount }: MeshFile): PartInput[] | undefined {
  const numbers = new Map<string, number>();
  // uint32[V] 1 + index of the name, 0 = of no element
  const nameOf = new Uint32Array(vertexCount);
  let firstVertex = 0;
  for (const source of sources) {
    if (source.format !== 'obj') return undefined;
    let vertex = firstVertex;
    let current = 0;
    for (const line of source.blocks.flatMap((block) => block.slice(0, -1).split('\n'))) {
      const words = new Words(line);
      const keyword = words.next();
      if (keyword === 'v') vertex++;
      else if (BEGINNINGS.has(keyword)) current = numberOf(numbers, words.next());
      else if (keyword === 'f' || keyword === 'fo' || keyword === 'l' || keyword === 'p') {
        for (let word = words.next(); word !== '' && !word.startsWith('#'); word = words.next()) {
          const number = Number.parseInt(word, 10);
          const id = number > 0 ? firstVertex + number - 1 : vertex + number;
          if (current === 0 || !(id >= 0 && id < vertexCount)) return undefined;
          if (nameOf[id] !== 0 && nameOf[id] !== current) return undefined;
          nameOf[id] = current;
        }
      }
    }
    firstVertex += source.vertexCount;
  }
  return numbers.size > 1 && firstVertex === vertexCount ? rangesOf([...numbers.keys()], nameOf) : undefined;
}

/** Returns 1 + the index of a name, which is added if it is new. An unnamed group has the name of the format. */
function numberOf(numbers: Map<string, number>, name: string): number {
  const shown = name === '' ? 'default' : name;
  const known = numbers.get(shown);
  if (known !== undefined) return known;
  numbers.set(shown, numbers.size + 1);
  return numbers.size;
}

/** Returns the ranges, or undefined if a name has more than one. */
function rangesOf(names: readonly string[], nameOf: Uint32Array): PartInput[] | undefined {
  const first = nameOf.find((name) => name !== 0);
  if (first === undefined) return undefined;
  const parts: Omit<PartInput, 'vertexCount'>[] = [];
  const ends: number[] = [];
  const seen = new Set<number>();
  let current = 0;
  for (let vertex = 0; vertex < nameOf.length; vertex++) {
    const name = nameOf[vertex] || current || first;
    if (name !== current) {
      if (seen.has(name)) return undefined;
      seen.add(name);
      parts.push({ name: names[name - 1]!, firstVertex: vertex });
      current = name;
    }
    ends[parts.length - 1] = vertex + 1;
  }
  return parts.length > 1 ? parts.map((part, n) => ({ ...part, vertexCount: ends[n]! - part.firstVertex })) : undefined;
}
