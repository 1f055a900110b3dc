import type { Random } from '../support/random.js';

/** Bytes at the limits of what formats accept. */
const EDGES = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x22, 0x2c, 0x7b, 0x7d];
/** Numbers that formats handle badly: as little-endian words, and as text. */
const WORDS = [0xffffffff, 0x7fffffff, 0x80000000, 0x7fc00000, 0x7f800000, 0xff800000, 0x00000001];
const TEXTS = ['4294967295', '-1', '1e999', 'NaN', 'null', '""', '[]', '{"a":{}}', '18446744073709551616', '1e-400'];

/** A copy with a few bytes changed, inserted, removed, repeated, or moved. */
export function mutate(body: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  let mutant = Uint8Array.from(body);
  for (let n = random.int(3); n >= 0; n--) mutant = mutateOnce(mutant, random);
  return mutant;
}

function mutateOnce(body: Uint8Array<ArrayBuffer>, random: Random): Uint8Array<ArrayBuffer> {
  const at = random.int(body.length + 1);
  const insert = (bytes: ArrayLike<number>, over = 0) =>
    Uint8Array.from([
      ...body.subarray(0, at),
      ...Array.from(bytes),
      ...body.subarray(Math.min(body.length, at + over)),
    ]);
  switch (random.int(8)) {
    case 0:
      return body.slice(0, at);
    case 1:
      return insert([random.int(256)], 1);
    case 2:
      return at < body.length ? insert([body[at]! ^ (1 << random.int(8))], 1) : body;
    case 3:
      return insert(Array.from({ length: 1 + random.int(12) }, () => EDGES[random.int(EDGES.length)]!));
    case 4:
      return insert([], 1 + random.int(8));
    case 5:
      return insert(new Uint8Array(Uint32Array.of(WORDS[random.int(WORDS.length)]!).buffer), 4);
    case 6:
      return insert(Buffer.from(TEXTS[random.int(TEXTS.length)]!), random.int(4));
    default:
      return insert(body.subarray(at));
  }
}

export const randomBytes = (length: number, random: Random): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length }, () => random.int(256));

export const pick = <T>(list: readonly T[], random: Random): T => list[random.int(list.length)]!;
