/** A glTF file as a mesh refers to it. In a file of its own, so that the types of a mesh file do not need those of the library. */
export interface GltfSource {
  readonly path: string;
  /** what an answer as glTF does not keep */
  readonly lostAsGltf: readonly string[];
  /** what other formats lose besides */
  readonly names: readonly string[];
}
