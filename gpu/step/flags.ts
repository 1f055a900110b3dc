/** Flags of the WebGPU standard beyond those of gpu/flags.ts; see there why they are written out. */
export const USAGE = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  INDIRECT: 0x100,
} as const;
export const MAP_READ_MODE = 0x1;
export const COMPUTE_STAGE = 0x4;
