import { CERTIFICATE } from './certifier.js';
import {
  assertPair,
  COMPANION,
  type OpenedMesh,
  type OptionsFile,
  orderNames,
  readMeshBlob,
  readOptionsText,
} from './files/open-files.js';
import { byId, closeDialogs } from './ui/dom.js';
import type { OpenDialog } from './ui/open-dialog.js';
import { Reading, ReadingCanceled } from './ui/reading.js';

/** Passes files that are chosen or dropped to the dialog as start and target. */
export class FileOpener {
  readonly #input = byId<HTMLInputElement>('files');
  /** ends when the files that were chosen before have been read: a target that is dropped early waits for its start */
  #reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly dialog: OpenDialog,
    private readonly onCertificate: (file: File) => void,
    private readonly onError: (thrown: unknown) => void,
  ) {
    this.#input.addEventListener('change', () => {
      void this.take([...(this.#input.files ?? [])]);
      // So that the same file can be chosen again.
      this.#input.value = '';
    });
    this.#wireDrop();
  }

  choose(): void {
    this.#input.click();
  }

  /**
   * One mesh file is the start if there is none yet, or if there is a pair of two files already; otherwise the target.
   * A start with morph targets is already a pair.
   */
  take(files: readonly File[]): Promise<void> {
    const reading = this.#reading.then(() => this.#takeNow(files));
    // Its caller is told if it fails; the next files are read all the same.
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #takeNow(files: readonly File[]): Promise<void> {
    const reading = new Reading();
    try {
      const certificate = files.find(({ name }) => CERTIFICATE.test(name));
      if (certificate) {
        if (files.length > 1) throw new Error('Open a certificate by itself, without other files.');
        reading.end();
        closeDialogs();
        this.onCertificate(certificate);
        return;
      }
      const meshes: OpenedMesh[] = [];
      let options: OptionsFile | undefined;
      const companions = companionsOf(files);
      for (const file of inOrder(files)) {
        const { name } = file;
        if (/\.json$/i.test(name)) {
          if (options) throw new Error('Open one file of options; several were chosen.');
          options = readOptionsText(name, await file.text());
        } else if (!COMPANION.test(name)) {
          meshes.push(await readMeshBlob(name, file, companions, (share) => reading.piece(name, share)));
        }
      }
      if (meshes.length === 0 && !options && files.length > 0) {
        throw new Error(`${files[0]!.name} is no mesh, but belongs to a .gltf file. Open both together.`);
      }
      reading.assertWanted();
      reading.end();
      const [first, second] = meshes;
      const { start: before, target } = this.dialog;
      if (meshes.length > 2) throw new Error(`Open a start and a target; ${meshes.length} meshes were chosen.`);
      if (first && second) {
        assertPair(first, second);
        [this.dialog.start, this.dialog.target] = [first, second];
      } else if (first && before && (!target || target.isMorph)) {
        assertPair(before, first);
        this.dialog.target = first;
      } else if (first) {
        // A single file can be a pair: its mesh, and one of its morph targets.
        const [morph] = first.morphs?.names ?? [];
        [this.dialog.start, this.dialog.target] = [first, morph === undefined ? undefined : first.morphs?.open(morph)];
      }
      // Options belong to a mesh: those of the previous pair do not apply to another one.
      const isOther = before && this.dialog.start && !isSameMesh(before, this.dialog.start);
      if (options ?? isOther) this.dialog.options = options ?? {};
      closeDialogs('open-dialog');
      this.dialog.open();
    } catch (thrown) {
      reading.end();
      if (thrown instanceof ReadingCanceled) return;
      // The error is said in the dialog that asks for files, or on the page: any other dialog would hide it.
      closeDialogs('open-dialog');
      if (this.dialog.isOpen) this.dialog.refuse(thrown);
      else this.onError(thrown);
    }
  }

  #wireDrop(): void {
    const shade = byId('drop');
    let depth = 0;
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
    document.addEventListener('dragenter', (event) => {
      if (!isFiles(event)) return;
      depth += 1;
      shade.hidden = false;
    });
    document.addEventListener('dragleave', () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) shade.hidden = true;
    });
    document.addEventListener('dragover', (event) => {
      if (isFiles(event)) event.preventDefault();
    });
    document.addEventListener('drop', (event) => {
      depth = 0;
      shade.hidden = true;
      if (!isFiles(event)) return;
      event.preventDefault();
      void this.take([...(event.dataTransfer?.files ?? [])]);
    });
  }
}

/** The files in the order start, target; files of one name, from several folders, in the order in which they were chosen. */
function inOrder(files: readonly File[]): File[] {
  const names = orderNames([...new Set(files.map(({ name }) => name))]);
  return names.flatMap((name) => files.filter((file) => file.name === name));
}

/** The files that a .gltf file may refer to, by name. @throws Error if two have the same name */
function companionsOf(files: readonly File[]): Map<string, File> {
  const companions = new Map<string, File>();
  for (const file of files) {
    if (!COMPANION.test(file.name)) continue;
    if (companions.has(file.name))
      throw new Error(`Two files are called ${file.name}: which one is meant is not clear.`);
    companions.set(file.name, file);
  }
  return companions;
}

/** Whether a file is another state of the mesh that was open, with the same name, so that vertex ids mean the same. */
function isSameMesh(before: OpenedMesh, now: OpenedMesh): boolean {
  if (before === now) return true;
  try {
    assertPair(before, now);
    return before.name === now.name;
  } catch {
    return false;
  }
}
