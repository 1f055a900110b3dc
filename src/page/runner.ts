import type { ResolveResult } from '../client/types.js';
import type { Positions } from '../contract/mesh.js';
import { followWelded } from '../mesh/weld.js';
import type { Explorer } from './explorer.js';
import { KeptJob, type KeptWork, type Tangle } from './service/kept-job.js';
import type { Asked, Service } from './service/service.js';
import { type Study, studyOfPair, withAnswer } from './study.js';
import { Busy } from './ui/busy.js';
import { byId } from './ui/dom.js';
import type { Job, OpenDialog } from './ui/open-dialog.js';
import { hideProblem, type Problem, problemOf, showProblem } from './ui/problem.js';

/** Work for the service; as a job, if the service has jobs, it outlives this page. */
export interface Work<T> {
  readonly vertices: number;
  /** the data that the page needs to continue after a reload */
  readonly kept: KeptWork;
  submit(asked: Asked): Promise<T>;
  /** @param id of the job that computes it */
  resume(id: string, asked: Asked): Promise<T>;
}

/** Codes of errors that say nothing about a job: it continues. */
const SAYS_NOTHING: readonly string[] = ['UNREACHABLE', 'UNAUTHENTICATED', 'TIMEOUT'];

/** Sends a pair to the service and shows the answer, or the refusal with its place. */
export class Runner {
  #running: AbortController | undefined;
  /** the job of the running work, or of work whose end could not be awaited; it is forgotten when other work begins */
  #job: string | undefined;
  readonly #busy = new Busy();
  readonly #kept: KeptJob | undefined;

  constructor(
    private readonly explorer: Explorer,
    private readonly service: Service | undefined,
    /** has the files of the work, with which it can be done again */
    private readonly dialog: () => Pick<OpenDialog, 'chosen' | 'restore'>,
  ) {
    this.#kept = service && new KeptJob(service.base);
    byId('cancel').addEventListener('click', () => {
      this.#running?.abort();
      this.#forget();
    });
  }

  /**
   * Ends the running work because other work begins, which the user can cancel.
   *
   * @param continued the job that the work continues
   */
  begin(continued?: string): AbortController {
    this.#running?.abort();
    if (continued === undefined) this.#forget();
    this.#busy.stop();
    hideProblem();
    this.#running = new AbortController();
    return this.#running;
  }

  run(job: Job): Promise<void> {
    return this.#follow(job);
  }

  /**
   * Runs work of the service, which the user can cancel.
   *
   * @param again requests it again, with a key; it gets the job that continues, if there is one
   * @param continued the job that computes it already
   * @returns undefined if it was cancelled or has failed; a failure is shown
   */
  async during<T>(
    work: Work<T>,
    again: (continued: string | undefined) => void,
    continued?: string,
  ): Promise<T | undefined> {
    const running = this.begin(continued);
    const { signal } = running;
    this.#busy.start(work.vertices);
    try {
      const found = await this.#compute(work, signal, continued);
      if (signal.aborted) return undefined;
      this.#forget();
      return found;
    } catch (thrown) {
      if (running !== this.#running || signal.aborted) return undefined;
      if (!SAYS_NOTHING.includes(problemOf(thrown).code)) this.#forget();
      this.report(thrown, () => again(this.#job));
      return undefined;
    } finally {
      if (running === this.#running) this.#busy.stop();
    }
  }

  async #compute<T>(work: Work<T>, signal: AbortSignal, continued: string | undefined): Promise<T> {
    const asked: Asked = {
      signal,
      onJob: (id) => {
        // It is no longer needed; or an answer was too large, and it is computed again without its path.
        if (signal.aborted) return this.service?.forget(id);
        if (this.#job !== undefined) this.service?.forget(this.#job);
        this.#job = id;
        void this.#kept
          ?.keep(id, { ...work.kept, chosen: this.dialog().chosen })
          .then((isKept) => isKept && this.#job === id && this.#busy.keep());
      },
      onProgress: (status) => this.#busy.progress(status),
    };
    if (continued !== undefined) {
      this.#job = continued;
      if (this.#kept?.holds(continued)) this.#busy.keep();
      try {
        return await work.resume(continued, asked);
      } catch (thrown) {
        // The service was restarted, or the job has expired.
        if (signal.aborted || problemOf(thrown).code !== 'JOB_NOT_FOUND') throw thrown;
        this.#job = undefined;
      }
    }
    return work.submit(asked);
  }

  /** Makes the service and this browser forget the job. */
  #forget(): void {
    if (this.#job !== undefined) this.service?.forget(this.#job);
    this.#job = undefined;
    this.#kept?.drop();
  }

  /** Continues the job that ran when this page was reloaded. @param onTangle continues one that untangles */
  async resume(onTangle: (id: string, tangle: Tangle) => void): Promise<void> {
    const kept = await this.#kept?.find();
    // The user may have begun other work meanwhile.
    if (!kept || this.#running) return;
    if (kept.chosen && !this.dialog().chosen) this.dialog().restore(kept.chosen);
    if (kept.tangle) onTangle(kept.id, kept.tangle);
    else void this.#follow(kept.job, kept.id);
  }

  /** Shows a pair without an answer. */
  show(study: Study): void {
    this.explorer.load(study);
    byId('diagnose').hidden = this.service === undefined;
    byId('rerun').hidden = this.service === undefined || !this.dialog().chosen;
    byId('saving').hidden = true;
  }

  /** Shows a pair, the progress, and the answer. @param continued the job that computes it, if there is one */
  async #follow(job: Job, continued?: string): Promise<void> {
    const { service } = this;
    const { title, mesh, start, target, source, firstOf } = job;
    const study: Study = { ...studyOfPair({ title, mesh, start, target }), ...(source ? { source } : {}) };
    this.show(study);
    if (!target || !service) {
      this.begin();
      return;
    }
    const found = await this.during(
      {
        vertices: mesh.vertexCount,
        kept: { job },
        submit: (asked) => submit(service, job, asked),
        resume: (id, asked) => service.resume(id, asked),
      },
      (id) => void this.#follow(job, id),
      continued,
    );
    if (!found) return;
    const answer = firstOf ? { ...found, positions: followWelded(found.positions, firstOf) } : found;
    const resolved = withAnswer(study, answer);
    this.explorer.load(resolved, true);
    byId('saving').hidden = false;
    byId('scene-text').textContent = `The answer has arrived: ${answer.report.status.toLowerCase()}.`;
    await this.#checkTarget(service, resolved, target);
  }

  /** Shows what the service finds in the target beside the answer. */
  async #checkTarget(service: Service, resolved: Study, target: Positions): Promise<void> {
    const { signal } = this.#running!;
    try {
      const check = await service.check(resolved.mesh, target, signal);
      if (!signal.aborted) this.explorer.amend({ ...resolved, checks: { target: check } });
    } catch (thrown) {
      if (!signal.aborted) this.report(thrown, () => void this.#checkTarget(service, resolved, target));
    }
  }

  /** Shows an error. If the service requires a key, the request is sent again with one; if it may succeed later, on request. */
  report(thrown: unknown, again?: () => void): void {
    const problem = problemOf(thrown);
    if (problem.code === 'UNAUTHENTICATED' && this.service && again) this.#askForKey(this.service, again);
    else this.showRefusal(problem, again);
  }

  /** Shows a refusal, with the elements at fault marked in the scene. */
  showRefusal(problem: Problem, again?: () => void): void {
    const { pairs, element } = problem;
    const vertices = [...pairs.flatMap(({ a, b }) => [...a, ...b]), ...(element?.vertices ?? [])];
    const isShown = vertices.length > 0 && this.explorer.study !== undefined;
    if (isShown) this.explorer.showFaults(problem);
    showProblem(
      problem,
      isShown ? () => this.explorer.stage.lookAt(pairs[0] ? [...pairs[0].a, ...pairs[0].b] : vertices) : undefined,
      again,
    );
  }

  #askForKey(service: Service, again: () => void): void {
    const dialog = byId<HTMLDialogElement>('key-dialog');
    const input = byId<HTMLInputElement>('key');
    byId('key-note').textContent = service.hasKey ? 'The service did not accept this key.' : '';
    byId<HTMLFormElement>('key-form').onsubmit = () => {
      service.setKey(input.value.trim());
      input.value = '';
      queueMicrotask(again);
    };
    // The event comes after the closing, and the dialog may be open again by then.
    dialog.onclose = () => {
      if (!dialog.open) input.value = '';
    };
    if (!dialog.open) dialog.showModal();
  }

  /** Shows that this page computes. @returns a function that ends it, unless other work has begun */
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
