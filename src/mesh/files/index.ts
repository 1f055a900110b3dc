export { assertSameTopology, concatenate, toMeshInput, type VertexRange } from './combine.js';
export { errorOfFile, FILE_HINT } from './file-error.js';
export { partsOfGroups } from './obj-groups.js';
export { writeMesh } from './print.js';
export { openReader, readMesh, readMeshFile } from './read.js';
export { attributesLost } from './sources.js';
export type { FileFormat, MeshFile, MeshFormat, MeshReader, PlyEncoding } from './types.js';
export { formatOf, guessFormat, isStream, otherEnding, splitMorph } from './types.js';
export { writeMeshBytes, writeMeshFile } from './write.js';
