/** 128 random bits in hexadecimal digits. A page that was loaded without encryption has no `crypto.randomUUID`. */
export const randomId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
