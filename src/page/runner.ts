import type { ResolveResult } from '../client/types.js';
import { followWelded } from '../mesh/weld.js';
import type { Explorer } from './explorer.js';
import { KeptJob } from './service/kept-job.js';
import type { Asked, Service } from './service/service.js';
import { type Study, studyOfPair, withAnswer } from './study.js';
import { Busy } from './ui/busy.js';
import { byId } from './ui/dom.js';
import type { Job } from './ui/open-dialog.js';
import { hideProblem, type Problem, problemOf, showProblem } from './ui/problem.js';

/** Sends a pair to the service and shows what comes back: the answer, or the refusal with its place. */
export class Runner {
  #running: AbortController | undefined;
  readonly #busy = new Busy();
  readonly #kept: KeptJob | undefined;

  constructor(
    private readonly explorer: Explorer,
    private readonly service: Service | undefined,
    /** whether the dialog has the files of what runs, which it loses with the page */
    private readonly canRepeat: () => boolean,
  ) {
    this.#kept = service && new KeptJob(service.base);
    byId('cancel').addEventListener('click', () => {
      this.#running?.abort();
      this.#kept?.drop();
    });
  }

  /** Ends what runs, since something else begins; the person can cancel that. */
  begin(): AbortController {
    this.#running?.abort();
    this.#busy.stop();
    hideProblem();
    this.#running = new AbortController();
    return this.#running;
  }

  async run(job: Job): Promise<void> {
    this.#kept?.drop();
    await this.#follow(job, (service, asked) => submit(service, job, asked));
  }

  /**
   * Does something else that the service computes, which the person can cancel.
   *
   * @param again asks once more, with a key
   * @returns undefined where it was cancelled or has failed, which is shown
   */
  async during<T>(
    vertices: number,
    work: (asked: Pick<Asked, 'signal' | 'onProgress'>) => Promise<T>,
    again: () => void,
  ): Promise<T | undefined> {
    this.#kept?.drop();
    const running = this.begin();
    this.#busy.start(vertices);
    try {
      const found = await work({ signal: running.signal, onProgress: (status) => this.#busy.progress(status) });
      return running.signal.aborted ? undefined : found;
    } catch (thrown) {
      if (running === this.#running && !running.signal.aborted) this.report(thrown, again);
      return undefined;
    } finally {
      if (running === this.#running) this.#busy.stop();
    }
  }

  /** Goes on with the job that ran when this page was loaded again. @returns whether there is one */
  async resume(): Promise<boolean> {
    const kept = await this.#kept?.find();
    if (!kept) return false;
    const { id, job } = kept;
    void this.#follow(job, async (service, asked) => {
      try {
        return await service.resume(id, asked);
      } catch (thrown) {
        // The service was started anew, or has kept it long enough.
        if (problemOf(thrown).code !== 'JOB_NOT_FOUND') throw thrown;
        return submit(service, job, asked);
      }
    });
    return true;
  }

  /** Shows a pair, what the service does with it, and its answer. */
  async #follow(job: Job, ask: (service: Service, asked: Asked) => Promise<ResolveResult>): Promise<void> {
    const running = this.begin();
    const { title, mesh, start, target, source, firstOf } = job;
    const study: Study = { ...studyOfPair({ title, mesh, start, target }), ...(source ? { source } : {}) };
    this.explorer.load(study);
    for (const name of ['diagnose', 'untangle']) byId(name).hidden = this.service === undefined;
    byId('rerun').hidden = this.service === undefined || !this.canRepeat();
    byId('saving').hidden = true;
    if (!target || !this.service) return;
    this.#busy.start(mesh.vertexCount);
    try {
      const found = await ask(this.service, {
        signal: running.signal,
        onJob: (id) => void this.#kept?.keep(id, job).then((isKept) => isKept && this.#busy.keep()),
        onProgress: (status) => this.#busy.progress(status),
      });
      if (running.signal.aborted) return;
      this.#kept?.drop();
      const answer = firstOf ? { ...found, positions: followWelded(found.positions, firstOf) } : found;
      const resolved = withAnswer(study, answer);
      this.explorer.load(resolved, true);
      byId('saving').hidden = false;
      byId('scene-text').textContent = `The answer has arrived: ${answer.report.status.toLowerCase()}.`;
      this.#busy.stop();
      const check = await this.service.check(mesh, target, running.signal);
      if (!running.signal.aborted) this.explorer.amend({ ...resolved, checks: { target: check } });
    } catch (thrown) {
      if (running !== this.#running) return;
      this.#busy.stop();
      if (running.signal.aborted) return;
      const { code } = problemOf(thrown);
      // Of these the job knows nothing, so it goes on.
      if (!['UNREACHABLE', 'UNAUTHENTICATED', 'TIMEOUT'].includes(code)) this.#kept?.drop();
      this.report(thrown, () => void this.#follow(job, ask));
    } finally {
      if (running === this.#running) this.#busy.stop();
    }
  }

  /** Shows an error. A service that demands a key is asked again with one. */
  report(thrown: unknown, again?: () => void): void {
    const problem = problemOf(thrown);
    if (problem.code === 'UNAUTHENTICATED' && this.service && again) this.#askForKey(this.service, again);
    else this.showRefusal(problem);
  }

  /** A refusal with the elements at fault, marked in the scene. */
  showRefusal(problem: Problem): void {
    const { pairs, element } = problem;
    const vertices = [...pairs.flatMap(({ a, b }) => [...a, ...b]), ...(element?.vertices ?? [])];
    const isShown = vertices.length > 0 && this.explorer.study !== undefined;
    if (isShown) this.explorer.showFaults(problem);
    showProblem(
      problem,
      isShown ? () => this.explorer.stage.lookAt(pairs[0] ? [...pairs[0].a, ...pairs[0].b] : vertices) : undefined,
    );
  }

  #askForKey(service: Service, again: () => void): void {
    const dialog = byId<HTMLDialogElement>('key-dialog');
    const input = byId<HTMLInputElement>('key');
    byId('key-note').textContent = service.hasKey ? 'The service did not accept this key.' : '';
    byId<HTMLFormElement>('key-form').onsubmit = (event) => {
      if ((event.submitter as HTMLButtonElement | null)?.value !== 'use') return;
      service.setKey(input.value.trim());
      input.value = '';
      queueMicrotask(again);
    };
    if (!dialog.open) dialog.showModal();
  }

  /** Says that something computes here. @returns what ends it, unless something else has begun */
  showBusy(text: string, note: string): () => void {
    const running = this.#running;
    this.#busy.say(text, note);
    return () => {
      if (running === this.#running) this.#busy.stop();
    };
  }
}

function submit(service: Service, job: Job, asked: Asked): Promise<ResolveResult> {
  const { mesh, start, target, parameters, timeBudgetSeconds } = job;
  const budget = timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds };
  return service.resolve(mesh, start, target!, { ...asked, parameters, ...budget });
}
