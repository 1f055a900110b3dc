import type { Parameters } from '../../client/types.js';
import type { Positions } from '../../contract/mesh.js';
import { type OpenedMesh, type OptionsFile, type Pair, pairOf, seamsOf } from '../files/open-files.js';
import { formatCount, formatPlural, LENGTH_UNITS, type LengthUnit } from '../format.js';
import { readCount, readNumber } from '../numbers.js';
import { byId, make } from './dom.js';
import { problemOf } from './problem.js';

/** A pair of files with the chosen settings: everything that a request needs. */
export interface Job extends Pair {
  readonly title: string;
  readonly start: Positions;
  readonly target: Positions | undefined;
  readonly parameters: Parameters;
  readonly timeBudgetSeconds: number | undefined;
}

/** The files and the settings of the dialog, as a browser can store them: without the functions that open further morph targets. */
export interface Chosen {
  readonly start: OpenedMesh;
  readonly target: OpenedMesh | undefined;
  readonly options: OptionsFile;
  /** what the user wrote, by the id of the field */
  readonly fields: Readonly<Record<string, string>>;
}

/** Fields that a user sets, besides the choice to weld, which follows from the files. */
const FIELDS = ['quality', 'delta', 'kinematic', 'on-start', 'budget'];

/** The dialog that shows which file is which, and in which the user sets the request. */
export class OpenDialog {
  start: OpenedMesh | undefined;
  target: OpenedMesh | undefined;
  #options: OptionsFile = {};
  readonly #dialog = byId<HTMLDialogElement>('open-dialog');

  constructor(onResolve: (job: Job) => void, onUnit: (unit: LengthUnit) => void) {
    const unit = byId<HTMLSelectElement>('unit');
    for (const [value, name] of Object.entries(LENGTH_UNITS)) unit.append(make('option', { value }, name));
    unit.addEventListener('change', () => onUnit(unit.value as LengthUnit));
    const morph = byId<HTMLSelectElement>('morph');
    morph.addEventListener('change', () => {
      try {
        this.target = morph.value === '' ? undefined : this.start?.morphs?.open(morph.value);
        this.#describe();
      } catch (thrown) {
        this.refuse(thrown);
      }
    });
    byId('swap').addEventListener('click', () => {
      [this.start, this.target] = [this.target, this.start];
      this.#describe();
    });
    byId<HTMLFormElement>('open-form').addEventListener('submit', (event) => {
      event.preventDefault();
      try {
        const job = this.job();
        this.#dialog.close();
        onResolve(job);
      } catch (thrown) {
        this.refuse(thrown);
      }
    });
  }

  /** Members of an options file set the fields of the dialog; members without a field are sent unchanged. */
  set options(options: OptionsFile) {
    this.#options = options;
    const { quality, activationDistance, onIntersectingStart } = options.parameters ?? {};
    byId<HTMLSelectElement>('quality').value = String(quality ?? 'BALANCED');
    byId<HTMLInputElement>('delta').value = activationDistance === undefined ? '' : String(activationDistance);
    byId<HTMLInputElement>('kinematic').value =
      options.kinematicFrom === undefined ? '' : String(options.kinematicFrom);
    byId<HTMLSelectElement>('on-start').value = String(onIntersectingStart ?? 'REJECT');
    byId<HTMLInputElement>('budget').value = '';
    byId<HTMLInputElement>('weld').checked = false;
    const others = membersWithoutField(options);
    byId('file-options-row').hidden = others.length === 0;
    byId('file-options').textContent = others.join(', ');
  }

  /** undefined = no file is open */
  get chosen(): Chosen | undefined {
    const { start, target } = this;
    if (!start) return undefined;
    const fields = Object.fromEntries(FIELDS.map((id) => [id, textOf(id)]));
    return { start: storable(start), target: target && storable(target), options: this.#options, fields };
  }

  restore({ start, target, options, fields }: Chosen): void {
    [this.start, this.target] = [start, target];
    this.options = options;
    for (const [id, text] of Object.entries(fields)) byId<HTMLInputElement>(id).value = text;
  }

  open(): void {
    this.#describe();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  get isOpen(): boolean {
    return this.#dialog.open;
  }

  /** Says an error, and its remedy, in the dialog: what is behind it is dimmed. */
  refuse(thrown: unknown): void {
    const { message, hint } = problemOf(thrown);
    byId('open-note').textContent = [message, hint].filter((each) => each !== '').join(' ');
  }

  #describe(): void {
    const describe = (opened: OpenedMesh | undefined) =>
      opened ? `${opened.name}, ${formatPlural(opened.file.vertexCount, 'vertex', 'vertices')}` : 'none';
    byId('file-start').textContent = describe(this.start);
    byId('file-target').textContent = describe(this.target);
    this.#listMorphs();
    this.#describeSeams();
    byId<HTMLButtonElement>('swap').disabled = !this.start || !this.target;
    byId('open-note').textContent = '';
    byId('resolve').textContent = this.target ? 'Resolve' : 'Show';
  }

  /** Offers to weld if vertices coincide: elements that meet there without a common vertex would intersect. */
  #describeSeams(): void {
    const box = byId<HTMLInputElement>('weld');
    const { copies, stay } = this.start ? seamsOf(this.start, this.target) : { copies: 0, stay: true };
    byId('weld-row').hidden = copies === 0;
    box.disabled = !stay;
    box.checked = copies > 0 && stay;
    const many = copies === 1 ? '1 vertex lies' : `${formatCount(copies)} vertices lie`;
    byId('weld-text').textContent = stay
      ? `Weld: ${many} exactly where another one does, as at seams. Ids stay those of the file.`
      : `${many} exactly where another one does, and not in the target, so they cannot be welded.`;
  }

  /** Lists the morph targets of the start, one of which may be the target. */
  #listMorphs(): void {
    const names = this.start?.morphs?.names ?? [];
    const select = byId<HTMLSelectElement>('morph');
    byId('morph-row').hidden = names.length === 0;
    const other = this.target && !this.target.isMorph ? this.target.name : 'none';
    select.replaceChildren(
      make('option', { value: '' }, other),
      ...names.map((name) => make('option', { value: name }, name)),
    );
    select.value = names.find((name) => this.target?.isMorph && this.target.name.endsWith(`#${name}`)) ?? '';
  }

  /** The settings as a request. @throws Error with a message for the dialog; errors of the readers */
  job(): Job {
    const { start, target } = this;
    if (!start) throw new Error('Choose a start first.');
    const kinematicFrom = readCount(textOf('kinematic'), 'Kinematic from vertex');
    const delta = readNumber(textOf('delta'), 'Activation distance');
    const options = { ...this.#options, kinematicFrom };
    const isWelded = byId<HTMLInputElement>('weld').checked;
    const given = this.#options.parameters;
    // A word that the dialog does not offer is sent as it is: the service refuses it, and names those that it knows.
    const parameters = {
      ...given,
      quality: byId<HTMLSelectElement>('quality').value || given?.quality,
      activationDistance: delta,
      onIntersectingStart: byId<HTMLSelectElement>('on-start').value || given?.onIntersectingStart,
    } as Parameters;
    return {
      title: target ? `${start.name} → ${target.name}` : start.name,
      ...pairOf(start, target, options, isWelded),
      start: start.file.positions,
      target: target?.file.positions,
      parameters,
      timeBudgetSeconds: readNumber(textOf('budget'), 'Time budget'),
    };
  }
}

const storable = ({ morphs: _, ...opened }: OpenedMesh): OpenedMesh => opened;

/** The members of an options file that no field of the dialog shows, as text: they are sent all the same. */
function membersWithoutField({ parameters, kinematicVertices }: OptionsFile): string[] {
  const others = Object.entries(parameters ?? {}).filter(([name]) => !SHOWN.includes(name));
  return [
    ...others.map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`),
    ...(kinematicVertices ? [`${formatCount(kinematicVertices.length)} kinematicVertices`] : []),
  ];
}

/** Parameters with a field in the dialog. */
const SHOWN = ['quality', 'activationDistance', 'onIntersectingStart'];

const textOf = (id: string): string => byId<HTMLInputElement>(id).value;
