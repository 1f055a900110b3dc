import { Document } from '@gltf-transform/core';

/** Two squares, one above the other, as a glTF document, with morph targets that press one through the other and that part them. */
export function squaresOfGltf(): Document {
  const document = new Document();
  const buffer = document.createBuffer();
  const corners = [0, 0.5].flatMap((z) => [0, 0, z, 1, 0, z, 1, 1, z, 0, 1, z]);
  const vectors = (numbers: readonly number[]) =>
    document.createAccessor().setType('VEC3').setArray(Float32Array.from(numbers)).setBuffer(buffer);
  const ids = Uint16Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7);
  const primitive = document
    .createPrimitive()
    .setAttribute('POSITION', vectors(corners))
    .setIndices(document.createAccessor().setArray(ids).setBuffer(buffer));
  // The lower square is tilted through the upper one; or it goes down.
  const shifts = {
    Press: corners.map((_, i) => (i % 3 === 2 && (i === 2 || i === 5) ? 0.8 : 0)),
    Part: corners.map((_, i) => (i % 3 === 2 && i < 12 ? -1 : 0)),
  };
  for (const [name, shift] of Object.entries(shifts)) {
    primitive.addTarget(document.createPrimitiveTarget(name).setAttribute('POSITION', vectors(shift)));
  }
  const mesh = document
    .createMesh()
    .addPrimitive(primitive)
    .setExtras({ targetNames: Object.keys(shifts) });
  document.createScene().addChild(document.createNode().setMesh(mesh));
  return document;
}
