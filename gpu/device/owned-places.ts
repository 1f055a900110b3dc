import type { DeviceMemory } from './memory.js';
import type { Place } from './place.js';

/** The places that one owner has taken from a device's memory, and returns together. */
export class OwnedPlaces {
  readonly #memory: DeviceMemory;
  readonly #all = new Set<Place>();

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** @throws OUT_OF_DEVICE_MEMORY, TOO_LARGE */
  add(label: string, bytes: number, usage: number): Place {
    const place = this.#memory.place(label, bytes, usage);
    this.#all.add(place);
    return place;
  }

  has(place: Place): boolean {
    return this.#all.has(place);
  }

  drop(place: Place): void {
    this.#all.delete(place);
    this.#memory.release(place);
  }

  close(): void {
    for (const place of this.#all) this.#memory.release(place);
    this.#all.clear();
  }
}
