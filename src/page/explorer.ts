import type { ElementPair } from '../contract/elements.js';
import { type Field, fieldsOf } from './fields/field.js';
import type { LengthUnit } from './format.js';
import { type Range, Stage } from './stage.js';
import { hasPath, type StateName, type Study, stateOnPath } from './study.js';
import { dropDiagnosis } from './ui/diagnosis.js';
import { byId, make, setPressed } from './ui/dom.js';
import { drawLegend, rangeFor } from './ui/legend.js';
import { renderParts } from './ui/parts-list.js';
import type { Problem } from './ui/problem.js';
import { type ResultActions, renderResult } from './ui/result.js';
import { renderVertex } from './ui/vertex.js';

/** Time in which the path is played, milliseconds. */
const PLAY_MS = 2600;

/** Names of data that only a service can compute. */
const MISSING_WORDS = { gap: 'gaps', intersections: 'intersections' } as const;

/** The view of one study: state, colours and selected vertex; it keeps scene, legend and results consistent. */
export class Explorer implements ResultActions {
  readonly stage = new Stage(byId<HTMLCanvasElement>('view'));
  unit: LengthUnit = 'm';
  /** called with the contours whose sides are to be turned */
  onTurn: ((turned: readonly number[]) => void) | undefined;
  study: Study | undefined;
  #fields: Field[] = [];
  #field: Field | undefined;
  #range: Range | undefined;
  /** Place on the path from 0 to 1; undefined = the target is shown. */
  #place: number | undefined = 0;
  /** [3·V] as drawn; below, whether it no longer is the state of the place */
  #state = new Float64Array(0);
  #isStale = false;
  /** what the colours and the legend were made from, so that neither is made twice */
  #painted = '';
  #described = '';
  #values: Float32Array | undefined;
  #vertex: number | undefined;
  #isHidden: boolean[] = [];
  #isPlaying = false;
  /** request for the next picture of the path that is played */
  #nextPicture = 0;
  readonly #shown = { edges: true, contacts: false, ghost: false };

  /** @param hasService whether a service can compute what the page does not compute itself */
  constructor(
    private readonly showTab: (name: string) => void,
    private readonly hasService: boolean,
  ) {
    const slider = byId<HTMLInputElement>('slider');
    slider.addEventListener('input', () => this.goTo(Number(slider.value)));
    // It is held before it is moved.
    slider.addEventListener('pointerdown', () => this.#setPlaying(false));
    byId('play').addEventListener('click', () => this.play());
    byId('show-start').addEventListener('click', () => this.goTo(0));
    byId('show-answer').addEventListener('click', () => this.goTo(1));
    byId('show-target').addEventListener('click', () => this.goTo(undefined));
    byId('field').addEventListener('change', (event) => this.setField((event.target as HTMLSelectElement).value));
    for (const name of ['edges', 'contacts', 'ghost'] as const) {
      byId(`toggle-${name}`).addEventListener('click', () => this.toggle(name));
    }
    byId('frame').addEventListener('click', () => this.stage.fit());
    byId('up').addEventListener('click', () => this.turnUp());
    this.stage.viewer.beforeDraw = () => this.#sync();
    this.#wirePicking(byId<HTMLCanvasElement>('view'));
  }

  /** @param keepsView whether it is the same mesh with more data, so that the view, the parts and the colours stay */
  load(study: Study, keepsView = false): void {
    const field = keepsView ? this.#field?.id : undefined;
    if (study.mesh !== this.study?.mesh) dropDiagnosis(byId('result'));
    this.study = study;
    this.#state = new Float64Array(3 * study.mesh.vertexCount);
    this.#isStale = true;
    if (!keepsView) {
      this.#vertex = undefined;
      this.#isHidden = [];
      this.#shown.ghost = false;
    }
    const showsEdges = this.stage.load(study, keepsView);
    if (!keepsView) this.#shown.edges = showsEdges;
    this.stage.hideParts(this.#isHidden);
    this.#fields = fieldsOf(study, this.stage.edges);
    for (const id of ['legend', 'tools', 'timeline']) byId(id).hidden = false;
    byId('welcome').hidden = true;
    // What is untangled is a start without an answer: it would replace an answer, or states under the verdict on a certificate.
    byId('untangle').hidden = !this.hasService || Boolean(study.answer ?? study.certificate);
    byId('title').textContent = study.title;
    document.title = `${study.title} – Interstice`;
    byId<HTMLButtonElement>('show-target').disabled = !study.target;
    for (const id of ['show-answer', 'play', 'slider']) byId<HTMLInputElement>(id).disabled = !hasPath(study);
    this.#listFields();
    this.#syncToggles();
    const chosen = this.#fields.find(({ id }) => id === field) ?? (hasPath(study) ? this.#fields[0] : undefined);
    this.#setField(chosen);
    this.goTo(hasPath(study) ? 1 : 0);
    this.#sync();
    this.renderPanes();
  }

  /** Replaces the study by the same one with more data. */
  amend(study: Study): void {
    this.study = study;
    this.#fields = fieldsOf(study, this.stage.edges);
    const chosen = this.#field?.id;
    this.#listFields();
    this.#setField(this.#fields.find(({ id }) => id === chosen));
    this.renderPanes();
  }

  /** Marks the elements that an error names, in the start. */
  showFaults({ pairs, element }: Problem): void {
    this.goTo(0);
    this.#setField(undefined);
    this.#sync();
    const own: ElementPair[] = element ? [{ kind: 'VERTEX_VERTEX', a: element.vertices, b: [] }] : [];
    this.stage.highlight([...pairs, ...own]);
  }

  renderPanes(): void {
    renderResult(byId('result'), this.study, this.unit, this);
    renderParts(byId('parts'), this.stage.parts, this.#isHidden, (isHidden) => {
      this.#isHidden = isHidden;
      this.stage.hideParts(isHidden);
    });
    this.#renderVertex();
  }

  setUnit(unit: LengthUnit): void {
    this.unit = unit;
    this.renderPanes();
    this.#drawLegend();
    this.#describePlace();
  }

  // ---- which state

  /** Shows a state, and stops playing. @param place on the path from 0 (start) to 1 (last state); undefined = the target */
  goTo(place: number | undefined): void {
    this.#setPlaying(false);
    this.#goTo(place);
  }

  #goTo(place: number | undefined): void {
    const { study } = this;
    if (!study || (place === undefined && !study.target)) return;
    this.#place = place;
    // The scene is updated before the next picture: of several places set before it, the last counts.
    this.#isStale = true;
    this.stage.viewer.ask();
    this.#describePlace();
    const slider = byId<HTMLInputElement>('slider');
    if (place !== undefined) slider.value = String(place);
    slider.style.setProperty('--at', slider.value);
    setPressed(byId('show-start'), place === 0);
    setPressed(byId('show-answer'), place === 1);
    setPressed(byId('show-target'), place === undefined);
  }

  /** Shows the state of the place, if another state is shown. */
  #sync(): void {
    const { study } = this;
    if (!study || !this.#isStale) return;
    this.#isStale = false;
    if (this.#place === undefined) this.#state.set(study.target!);
    else stateOnPath(study.path, this.#place, this.#state);
    this.stage.show(this.#state, this.#stateName() === 'answer');
    this.#paint();
    this.#renderVertex();
  }

  /** Moves by this number of states along the path, or back. */
  stepBy(count: number): void {
    const last = (this.study?.path.length ?? 1) - 1;
    if (last < 1 || this.#place === undefined) return;
    const pieces = last === 1 ? 20 : last;
    this.goTo(Math.min(1, Math.max(0, (Math.round(this.#place * pieces) + count) / pieces)));
  }

  play(): void {
    const isStarted = !this.#isPlaying && this.study !== undefined && hasPath(this.study);
    this.#setPlaying(isStarted);
    if (!isStarted) return;
    const from = this.#place === undefined || this.#place >= 1 ? 0 : this.#place;
    const began = performance.now();
    const draw = (now: number) => {
      const place = Math.min(1, from + Math.max(0, now - began) / PLAY_MS);
      this.#goTo(place);
      if (place < 1) this.#nextPicture = requestAnimationFrame(draw);
      else this.#setPlaying(false);
    };
    this.#nextPicture = requestAnimationFrame(draw);
  }

  #setPlaying(isPlaying: boolean): void {
    this.#isPlaying = isPlaying;
    if (!isPlaying) cancelAnimationFrame(this.#nextPicture);
    // Screen readers would read out every place that the path passes.
    byId('place').setAttribute('aria-live', isPlaying ? 'off' : 'polite');
    const button = byId('play');
    setPressed(button, isPlaying);
    button.setAttribute('aria-label', isPlaying ? 'Stop' : 'Play the path');
  }

  #stateName(): StateName | undefined {
    if (this.#place === undefined) return 'target';
    if (this.#place === 0) return 'start';
    return this.#place === 1 && this.study && hasPath(this.study) ? 'answer' : undefined;
  }

  #describePlace(): void {
    const { study } = this;
    const name = this.#stateName();
    const percent = `${Math.round(100 * (this.#place ?? 0))}\u202f%`;
    const steps = (study?.path.length ?? 1) - 1;
    const words = study?.pathWords[Math.ceil((this.#place ?? 0) * steps)];
    const between = words ?? `${percent} of the way`;
    const text = name ?? between;
    byId('place').textContent = text;
    byId('slider').setAttribute('aria-valuetext', text);
  }

  // ---- in which colours

  setField(id: string): void {
    this.#sync();
    this.#setField(this.#fields.find((field) => field.id === id));
  }

  /** Selects a field by its place in the list; 0 = parts. */
  setFieldAt(index: number): void {
    if (index <= this.#fields.length) this.setField(this.#fields[index - 1]?.id ?? '');
  }

  #setField(field: Field | undefined): void {
    this.#field = field;
    byId<HTMLSelectElement>('field').value = field?.id ?? 'parts';
    this.#range = field && this.study ? rangeFor(field, this.#samples(field, this.study)) : undefined;
    this.#painted = this.#described = '';
    if (!this.#isStale) this.#paint();
  }

  /** Values in the states that decide the range. The target is not one of them: its distances are all 0. */
  #samples(field: Field, study: Study): Float32Array[] {
    const samples = [field.valuesOf(study.start, 'start')];
    if (hasPath(study)) samples.push(field.valuesOf(study.path.at(-1)!, 'answer'));
    // At the start every vertex is far from its target; the range should show what remains in the answer.
    if (study.answer && (field.id === 'distance' || field.id === 'stretch')) samples.shift();
    if (field.id === 'intersections' && study.target) samples.push(field.valuesOf(study.target, 'target'));
    return samples;
  }

  /** Colours the state that is shown, unless it already has these colours: not every field depends on the place. */
  #paint(): void {
    const field = this.#field;
    const name = this.#stateName();
    const isDefined = this.#isDefined(field, name);
    const isFixed = !field || !isDefined || field.states !== undefined;
    const key = `${field?.id} ${isFixed ? isDefined && name : this.#place}`;
    if (key !== this.#painted) {
      this.#painted = key;
      this.#values = isDefined ? field?.valuesOf(this.#state, name) : undefined;
      this.stage.paint(field, this.#values, this.#range);
    }
    this.#drawLegend();
  }

  #isDefined(field: Field | undefined, name: StateName | undefined): boolean {
    return !field?.states || (name !== undefined && field.states.includes(name));
  }

  #drawLegend(): void {
    const field = this.#field;
    const isDefined = this.#isDefined(field, this.#stateName());
    const isFree = field?.id === 'intersections' && isDefined && this.#values?.every(Number.isNaN) === true;
    const key = `${field?.id} ${isDefined} ${isFree} ${this.unit}`;
    if (key === this.#described) return;
    this.#described = key;
    const where = field?.states?.length === 1 ? 'Known only in the answer.' : 'Known only in start, target and answer.';
    const words = isFree ? 'Nothing intersects in this state.' : field?.explanation;
    const note = !field ? 'Each part has a colour; grey is kinematic.' : isDefined ? words! : where;
    drawLegend(field, this.#range, { unit: this.unit, note, values: this.#values });
  }

  #listFields(): void {
    const select = byId<HTMLSelectElement>('field');
    const options = [['parts', 'Parts'], ...this.#fields.map(({ id, label }) => [id, label])] as const;
    select.replaceChildren(...options.map(([value, label]) => make('option', { value: value! }, label!)));
    const missing = (['gap', 'intersections'] as const).filter((id) => !this.#fields.some((field) => field.id === id));
    const note = byId('legend-missing');
    note.hidden = missing.length === 0 || (this.hasService && !this.study?.certificate);
    const names = missing.map((id) => MISSING_WORDS[id]).join(' and ');
    note.textContent = this.study?.certificate
      ? `A certificate has no colours for ${names}.`
      : `No colours for ${names}: only a service can compute them, and this page has none.`;
  }

  // ---- what else is shown

  toggle(name: 'edges' | 'contacts' | 'ghost'): void {
    this.#shown[name] = !this.#shown[name];
    if (name === 'contacts' && this.#shown.contacts && this.#stateName() !== 'answer') this.goTo(1);
    this.#sync();
    this.#syncToggles();
  }

  #syncToggles(): void {
    const { edges, contacts, ghost } = this.#shown;
    this.stage.showEdges(edges);
    this.stage.showContacts(contacts);
    this.stage.showGhost(ghost);
    for (const name of ['edges', 'contacts', 'ghost'] as const) setPressed(byId(`toggle-${name}`), this.#shown[name]);
    byId<HTMLButtonElement>('toggle-contacts').disabled = !this.study?.answer?.contacts;
    byId<HTMLButtonElement>('toggle-ghost').disabled = !this.study?.target;
  }

  turnUp(): void {
    this.lookFrom(this.stage.viewer.up === 'z' ? 'y' : 'z');
  }

  /** Sets the view. @param height see {@link Viewer.lookFrom} */
  lookFrom(up: 'y' | 'z', height?: number): void {
    this.stage.viewer.lookFrom(up, height);
    byId('up').textContent = `${up.toUpperCase()} up`;
    this.stage.fit();
  }

  showPair(pair: ElementPair): void {
    if (this.#stateName() !== 'answer' && this.study?.answer) this.goTo(1);
    this.#sync();
    this.stage.highlight([pair]);
    this.stage.lookAt([...pair.a, ...pair.b]);
  }

  /** Shows the curve of a contour, in the start. */
  showContour({ points, kind }: Parameters<ResultActions['showContour']>[0]): void {
    this.goTo(0);
    this.#sync();
    this.stage.showCurve(points, kind === 'CLOSED');
  }

  turnContour(id: number): void {
    const before = this.study?.hints?.turned ?? [];
    this.onTurn?.(before.includes(id) ? before.filter((one) => one !== id) : [...before, id]);
  }

  // ---- which vertex

  pickAt(x: number, y: number): void {
    this.#sync();
    this.select(this.stage.pickAt(x, y));
  }

  select(vertex: number | undefined): void {
    this.#sync();
    this.#vertex = vertex;
    this.stage.highlight([]);
    this.#renderVertex();
    if (vertex === undefined) return;
    this.showTab('vertex');
    byId('scene-text').textContent =
      `Vertex ${vertex} is chosen. ${byId('vertex').querySelector('section:nth-of-type(2) p')?.textContent ?? ''}`;
  }

  #renderVertex(): void {
    const view = {
      study: this.study,
      vertex: this.#vertex,
      parts: this.stage.parts,
      state: this.#state,
      unit: this.unit,
    };
    const pairs = renderVertex(byId('vertex'), view, this);
    this.stage.select(this.#vertex, this.#stateName() === 'answer' ? pairs : []);
  }

  /** A click that was not a drag picks. */
  #wirePicking(canvas: HTMLCanvasElement): void {
    let down: PointerEvent | undefined;
    canvas.addEventListener('pointerdown', (event) => {
      down = event;
    });
    canvas.addEventListener('click', (event) => {
      if (down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) {
        this.pickAt(event.clientX, event.clientY);
      }
    });
    canvas.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      const box = canvas.getBoundingClientRect();
      this.pickAt(box.left + box.width / 2, box.top + box.height / 2);
    });
  }
}
