import { IntersticeError } from '../../contract/errors.js';
import { quote } from './lines.js';
import { isFloat, type PlyElement } from './ply-header.js';

/** The wanted properties of one record. */
export interface PlyRecord {
  /** float64: the wanted scalars, by slot */
  readonly scalars: Float64Array;
  /** the wanted list */
  readonly list: number[];
}

/** How the records of one element are read. */
export interface ElementPlan {
  readonly element: PlyElement;
  /** per property: its slot among the wanted scalars, 0 for the wanted list, −1 for a property to skip */
  readonly slots: readonly number[];
  /** @param line 0 in a binary file */
  take(record: PlyRecord, index: number, line: number): void;
}

type Take = ElementPlan['take'];

export interface PlySink {
  takeVertex: Take;
  takeFace: Take;
  takeEdge: Take;
  takePoint: Take;
}

const ignore: Take = () => {};

/**
 * Decides which properties of an element are read. Elements that do not belong to a mesh's shape are skipped.
 *
 * @throws IntersticeError MALFORMED_BODY if a known element lacks its properties, UNIMPLEMENTED for triangle strips
 */
export function planElement(element: PlyElement, sink: PlySink): ElementPlan {
  const skip = { element, slots: element.properties.map(() => -1), take: ignore };
  // An element with a count of 0 needs no properties.
  if (element.count === 0) return skip;
  switch (element.name) {
    case 'vertex':
      return planScalars(element, ['x', 'y', 'z'], sink.takeVertex, false);
    case 'edge':
      return planScalars(element, ['vertex1', 'vertex2'], sink.takeEdge, true);
    case 'point':
      // This project writes it for particles beside faces. An element of that name from another program is skipped.
      return element.properties.some(({ name }) => name === 'vertex_index')
        ? planScalars(element, ['vertex_index'], sink.takePoint, true)
        : skip;
    case 'face':
      return planFace(element, sink.takeFace);
    case 'tristrips':
      throw new IntersticeError('UNIMPLEMENTED', 'The file holds triangle strips (tristrips), which are not read.', {
        hint: 'Save the mesh with an element "face" instead.',
      });
    default:
      return skip;
  }
}

function planScalars(element: PlyElement, wanted: readonly string[], take: Take, isInteger: boolean): ElementPlan {
  for (const name of wanted) {
    const property = element.properties.find((property) => property.name === name);
    if (!property || property.countType !== undefined || (isInteger && isFloat(property.type))) {
      throw new IntersticeError(
        'MALFORMED_BODY',
        `The element ${quote(element.name)} needs the ${isInteger ? 'integer ' : ''}properties ${wanted.join(', ')}; ${quote(name)} is ${property ? 'of another kind' : 'missing'}.`,
      );
    }
  }
  return { element, slots: element.properties.map(({ name }) => wanted.indexOf(name)), take };
}

function planFace(element: PlyElement, take: Take): ElementPlan {
  const { properties } = element;
  const corners = properties.find(({ name }) => name === 'vertex_indices' || name === 'vertex_index');
  if (!corners || corners.countType === undefined || isFloat(corners.type)) {
    throw new IntersticeError(
      'MALFORMED_BODY',
      `The element "face" needs a list of integers "vertex_indices"; it is ${corners ? 'of another kind' : 'missing'}.`,
    );
  }
  return { element, slots: properties.map((property) => (property === corners ? 0 : -1)), take };
}
