export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Media types of request bodies. */
export const TAKEN_TYPES = ['application/json', 'multipart/form-data'] as const;

/** Media types of request bodies that the contract has and this build does not. */
export const LATER_TYPES = ['application/x-protobuf', 'application/octet-stream'] as const;

/** How each kind of mesh file is labelled; the first that the caller accepts is used. PLY has no type of its own. */
export const MESH_TYPES = {
  obj: ['model/obj', 'text/plain'],
  ply: ['application/octet-stream'],
} as const;
