import type { Hints, Study } from '../study.js';
import type { Chosen, Job } from '../ui/open-dialog.js';

/** The work of a running job in the storage of the browser, so that the page can show its answer after a reload. */

/** A start that is untangled. */
export interface Tangle {
  readonly study: Study;
  readonly hints: Hints;
}

/** The work of a job: one of these. */
export type KeptWork =
  | { readonly job: Job; readonly tangle?: undefined }
  | { readonly tangle: Tangle; readonly job?: undefined };

/** The work, and what is in the dialog, so that it can be done again. */
type KeptWithFiles = KeptWork & { readonly chosen: Chosen | undefined };

const DATABASE = 'interstice';
const STORE = 'jobs';
/** Age at which the service has certainly forgotten a job, milliseconds. */
const MAX_AGE_MS = 24 * 3600 * 1000;

type Kept = KeptWithFiles & { readonly id: string; readonly since: number };

/** One kept job of a tab. */
export class KeptJob {
  readonly #name: string;
  /** undefined in a browser without storage, where accessing it is an error */
  readonly #tab: Storage | undefined = memoryOfTab();
  #current: string | undefined;

  /** @param base address of the service, since several may have one origin */
  constructor(base: string) {
    this.#name = `interstice-job ${base}`;
  }

  /**
   * @returns whether it is kept: a browser may have no room, or may never store anything; then only the open tab of its
   *   mesh knows the job
   */
  async keep(id: string, work: KeptWithFiles): Promise<boolean> {
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

  /** Whether this tab continues a job when it is reloaded. */
  holds(id: string): boolean {
    return this.#tab?.getItem(this.#name) === id;
  }

  /** The job that ran when this tab was reloaded. */
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

  /** Removes the kept job. */
  drop(): void {
    this.#current = undefined;
    const id = this.#tab?.getItem(this.#name);
    if (!id) return;
    this.#tab?.removeItem(this.#name);
    // Entries that are not deleted here are deleted after a day.
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
