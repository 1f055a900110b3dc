import type { ResolveResult } from '../client/types.js';
import type { Positions } from '../contract/mesh.js';
import { followWelded } from '../mesh/weld.js';
import type { Explorer } from './explorer.js';
import { KeptJob, type KeptWork, type Tangle } from './service/kept-job.js';
import type { Asked, Service } from './service/service.js';
import { type Study, studyOfPair, withAnswer } from './study.js';
import { Busy } from './ui/busy.js';
import { byId } from './ui/dom.js';
import type { Job } from './ui/open-dialog.js';
import { hideProblem, type Problem, problemOf, showProblem } from './ui/problem.js';

/** What the service computes; as a job, where it has them, it outlives this page. */
export interface Work<T> {
  readonly vertices: number;
  /** what whoever loads the page again needs to go on */
  readonly kept: KeptWork;
  submit(asked: Asked): Promise<T>;
  /** @param id of the job that computes it */
  resume(id: string, asked: Asked): Promise<T>;
}

/** Codes of errors that the service has not said of a job: it goes on. */
const SAYS_NOTHING: readonly string[] = ['UNREACHABLE', 'UNAUTHENTICATED', 'TIMEOUT'];

/** Sends a pair to the service and shows what comes back: the answer, or the refusal with its place. */
export class Runner {
  #running: AbortController | undefined;
  /** the job of what runs, or of what could not be followed to its end; it is forgotten when something else begins */
  #job: string | undefined;
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
      this.#forget();
    });
  }

  /**
   * Ends what runs, since something else begins; the person can cancel that.
   *
   * @param continued the job that is gone on with
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
   * Does what the service computes, which the person can cancel.
   *
   * @param again asks once more, with a key; it is given the job that goes on, if there is one
   * @param continued the job that computes it already
   * @returns undefined where it was cancelled or has failed, which is shown
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
        // Nobody waits for it any more; or an answer was too large, and it is computed again without its path.
        if (signal.aborted) return this.service?.forget(id);
        if (this.#job !== undefined) this.service?.forget(this.#job);
        this.#job = id;
        void this.#kept?.keep(id, work.kept).then((isKept) => isKept && this.#job === id && this.#busy.keep());
      },
      onProgress: (status) => this.#busy.progress(status),
    };
    if (continued !== undefined) {
      this.#job = continued;
      if (this.#kept?.holds(continued)) this.#busy.keep();
      try {
        return await work.resume(continued, asked);
      } catch (thrown) {
        // The service was started anew, or has kept it long enough.
        if (signal.aborted || problemOf(thrown).code !== 'JOB_NOT_FOUND') throw thrown;
        this.#job = undefined;
      }
    }
    return work.submit(asked);
  }

  /** Has the service forget the job, and this browser as well. */
  #forget(): void {
    if (this.#job !== undefined) this.service?.forget(this.#job);
    this.#job = undefined;
    this.#kept?.drop();
  }

  /** Goes on with the job that ran when this page was loaded again. @param onTangle goes on with one that untangles */
  async resume(onTangle: (id: string, tangle: Tangle) => void): Promise<void> {
    const kept = await this.#kept?.find();
    // The person may have begun something else meanwhile.
    if (!kept || this.#running) return;
    if (kept.tangle) onTangle(kept.id, kept.tangle);
    else void this.#follow(kept.job, kept.id);
  }

  /** Shows a pair without an answer. */
  show(study: Study): void {
    this.explorer.load(study);
    for (const name of ['diagnose', 'untangle']) byId(name).hidden = this.service === undefined;
    byId('rerun').hidden = this.service === undefined || !this.canRepeat();
    byId('saving').hidden = true;
  }

  /** Shows a pair, what the service does with it, and its answer. @param continued the job that computes it, if there is one */
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

  /** What the service finds in the target is shown beside the answer. */
  async #checkTarget(service: Service, resolved: Study, target: Positions): Promise<void> {
    const { signal } = this.#running!;
    try {
      const check = await service.check(resolved.mesh, target, signal);
      if (!signal.aborted) this.explorer.amend({ ...resolved, checks: { target: check } });
    } catch (thrown) {
      if (!signal.aborted) this.report(thrown, () => void this.#checkTarget(service, resolved, target));
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
