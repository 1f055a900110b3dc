/** A room that turns out too small grows by this at least: a demand that creeps up must not cost new memory every time. */
const GROWTH = 1.25;

/**
 * Memory that is needed only while a request is at work, by name: each room is lent to one request at a time and stays
 * for the next, of whichever scene. A view is good until the same name is asked for again, or {@link release}; whoever
 * outlives the request must not keep one, or the memory behind it stays when the room has moved on.
 */
export class Scratch {
  readonly #rooms = new Map<string, ArrayBuffer>();

  /** of all rooms, whoever used them */
  get bytes(): number {
    let sum = 0;
    for (const room of this.#rooms.values()) sum += room.byteLength;
    return sum;
  }

  /** @returns float32[length], with whatever is in it */
  float32(name: string, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#room(name, 4 * length), 0, length);
  }

  /** @returns int32[length], with whatever is in it */
  int32(name: string, length: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#room(name, 4 * length), 0, length);
  }

  /** @returns uint32[length], with whatever is in it */
  uint32(name: string, length: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.#room(name, 4 * length), 0, length);
  }

  /** @returns uint8[length], with whatever is in it */
  uint8(name: string, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#room(name, length), 0, length);
  }

  release(): void {
    this.#rooms.clear();
  }

  /** What is in a room is lost when it grows. */
  #room(name: string, bytes: number): ArrayBuffer {
    const room = this.#rooms.get(name);
    if (room && room.byteLength >= bytes) return room;
    const larger = new ArrayBuffer(Math.max(bytes, Math.ceil(GROWTH * (room?.byteLength ?? 0))));
    this.#rooms.set(name, larger);
    return larger;
  }
}
