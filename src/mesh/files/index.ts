export { assertSameTopology, concatenate, toMeshInput, type VertexRange } from './combine.js';
export { openReader, readMesh, readMeshFile } from './read.js';
export { attributesLost } from './sources.js';
export type { MeshFile, MeshFormat, MeshReader, PlyEncoding } from './types.js';
export { formatOf, guessFormat } from './types.js';
export { writeMesh, writeMeshFile } from './write.js';
