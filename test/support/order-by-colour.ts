/** The edges in the order of their colours, then of their indices. @param colour by edge */
export const orderByColour = (colour: Uint32Array): Uint32Array =>
  Uint32Array.from(colour.keys()).sort((a, b) => colour[a] - colour[b] || a - b);
