/** A glTF file as a mesh refers to it; separate, so that the types of a mesh file do not need those of the library. */
export interface GltfSource {
  readonly path: string;
  /** names of the content that an answer as glTF does not keep */
  readonly lostAsGltf: readonly string[];
  /** names of the content that other formats lose in addition */
  readonly names: readonly string[];
}
