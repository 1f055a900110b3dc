/**
 * Bit flags whose values the WebGPU standard fixes. The binding provides them, too, but only through its native module,
 * which is not loaded before an adapter is requested.
 */
export const BUFFER_USAGE = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  INDIRECT: 0x100,
  QUERY_RESOLVE: 0x200,
} as const;
export const MAP_MODE = { READ: 0x1 } as const;
export const SHADER_STAGE = { COMPUTE: 0x4 } as const;
