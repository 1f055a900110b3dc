import type { Hints, Study } from '../study.js';
import type { Job } from '../ui/open-dialog.js';

/** What a job computes that runs, in the memory of the browser, so that whoever loads the page again sees its answer. */

/** A start that is untangled. */
export interface Tangle {
  readonly study: Study;
  readonly hints: Hints;
}

/** The work of a job: one of these. */
export type KeptWork =
  | { readonly job: Job; readonly tangle?: undefined }
  | { readonly tangle: Tangle; readonly job?: undefined };

const DATABASE = 'interstice';
const STORE = 'jobs';
/** By then the service has forgotten a job, and nobody comes back for it, milliseconds. */
const MAX_AGE_MS = 24 * 3600 * 1000;

type Kept = KeptWork & { readonly id: string; readonly since: number };

/** One kept job of a tab. */
export class KeptJob {
  readonly #name: string;
  /** undefined in a browser that keeps nothing, where asking for it is an error */
  readonly #tab: Storage | undefined = memoryOfTab();
  #current: string | undefined;

  /** @param base address of the service, since several may have one origin */
  constructor(base: string) {
    this.#name = `interstice-job ${base}`;
  }

  /**
   * @returns whether it is kept: a browser may have no room, or keep nothing on principle; then only the tab of its mesh knows it, as
   *   long as it is open
   */
  async keep(id: string, work: KeptWork): Promise<boolean> {
    this.#current = id;
    try {
      const kept: Kept = { ...work, id, since: Date.now() };
      await inStore((store) => {
        store.put(kept);
        store.index('since').openCursor(IDBKeyRange.upperBound(kept.since - MAX_AGE_MS)).onsuccess = function () {
          this.result?.delete();
          this.result?.continue();
        };
      });
      if (this.#current !== id) {
        // It has ended meanwhile.
        await inStore((store) => store.delete(id));
        return false;
      }
      this.#tab?.setItem(this.#name, id);
      return this.#tab !== undefined;
    } catch {
      return false;
    }
  }

  /** Whether this tab goes on with a job when it is loaded again. */
  holds(id: string): boolean {
    return this.#tab?.getItem(this.#name) === id;
  }

  /** The job that ran when this tab was loaded again. */
  async find(): Promise<Kept | undefined> {
    const id = this.#tab?.getItem(this.#name);
    if (!id) return undefined;
    let request: IDBRequest<Kept | undefined> | undefined;
    try {
      await inStore((store) => {
        request = store.get(id);
      });
    } catch {
      this.drop();
    }
    return request?.result;
  }

  /** Says that nothing is to be kept any more. */
  drop(): void {
    this.#current = undefined;
    const id = this.#tab?.getItem(this.#name);
    if (!id) return;
    this.#tab?.removeItem(this.#name);
    // What is not deleted here is after a day.
    void inStore((store) => store.delete(id)).catch(() => {});
  }
}

function memoryOfTab(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** Does something in a transaction, and waits for its end. */
async function inStore(act: (store: IDBObjectStore) => unknown): Promise<void> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(STORE, { keyPath: 'id' }).createIndex('since', 'since');
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite');
      transaction.oncomplete = () => resolve();
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
      act(transaction.objectStore(STORE));
    });
  } finally {
    database.close();
  }
}
