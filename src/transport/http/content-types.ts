export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Media types of messages of the contract: what a path takes, and what it answers with. */
export const MESSAGE_TYPES = ['application/json', 'application/x-protobuf'] as const;
/** Of a step: also bare positions both ways. */
export const STEP_TYPES = [...MESSAGE_TYPES, 'application/octet-stream'] as const;
/** Of operations on mesh files. */
export const FORM_TYPES = [...MESSAGE_TYPES, 'multipart/form-data'] as const;

export type MessageType = (typeof MESSAGE_TYPES)[number];
export type StepType = (typeof STEP_TYPES)[number];
export type BodyType = StepType | (typeof FORM_TYPES)[number];

/** How each kind of mesh file is labelled; the first that the caller accepts is used. PLY has no type of its own. */
export const MESH_TYPES = {
  obj: ['model/obj', 'text/plain'],
  ply: ['application/octet-stream'],
} as const;
