import { randomBytes } from 'node:crypto';
import type { ResolveAnswer } from '../contract/requests.js';
import type { SessionInfo } from '../contract/sessions.js';
import type { Scheduler } from '../lanes/scheduler.js';
import { type SessionName, type SessionStore, StoreDown, type WriteVerdict } from '../store/session-store.js';
import type { SessionClock } from './call.js';
import { KeptCheckpoints } from './kept-checkpoints.js';
import { KeptCreation } from './kept-creation.js';
import { KeptDeparture } from './kept-departure.js';
import { KeptLifetime } from './kept-lifetime.js';
import {
  ask,
  entryOf,
  hashMesh,
  headOf,
  infoOf,
  inputBytes,
  nameOf,
  presentHead,
  readInfo,
  refOf,
  solverMs,
  ttlOf,
  unavailable,
  withWarning,
} from './kept-records.js';
import { type ComputedStep, keptState } from './kept-state.js';
import type { Log } from './observation.js';
import { isSamePayload } from './payload.js';
import type { Quotas } from './registry.js';
import type { Session } from './session.js';
import { type ClaimedSession, SessionGone, SessionMoved } from './session-moved.js';
import { type CheckpointRecord, isRepeatable, pack } from './stored-session.js';

/** What happens to a session in memory while the store is down. */
export type StoreFailure = 'refuse' | 'continue';

export interface KeeperOptions {
  readonly store: SessionStore;
  readonly onFailure: StoreFailure;
  readonly quotas: Quotas;
  /** identifies the algorithm version, engine and adapter of this process, as in {@link OpeningRecord.by} */
  readonly by: string;
  readonly scheduler: Pick<Scheduler, 'save'>;
  readonly clock: SessionClock;
  readonly log: Log | undefined;
}

/** How often a write is repeated because the store has lost its session meanwhile. */
const MAX_LOSSES = 4;

/** Keeps the sessions of this process in the store: all requests to the store, and the reactions to its replies. */
export class SessionKeeper {
  readonly checkpoints: KeptCheckpoints;
  readonly creation: KeptCreation;
  readonly lifetime: KeptLifetime;
  readonly departure: KeptDeparture;

  constructor(private readonly options: KeeperOptions) {
    this.checkpoints = new KeptCheckpoints(options);
    this.creation = new KeptCreation(options);
    this.lifetime = new KeptLifetime(options);
    this.departure = new KeptDeparture({
      clock: options.clock,
      checkpoints: this.checkpoints,
      compare: (session) => this.compare(session),
      say: (session, message) => this.say(session, 'error', message),
    });
  }

  get store(): SessionStore {
    return this.options.store;
  }

  get by(): string {
    return this.options.by;
  }

  log(event: object, message: string): void {
    this.options.log?.(event, message);
  }

  /** Called when this process has claimed and built a session, which it keeps from now on. */
  adopt(session: Session, { stored, generation }: ClaimedSession): void {
    const { epoch, order, key, token, logged, log, checkpoint } = stored;
    // Loading has renewed the time to live some time ago, so its entry renews it again.
    const known = { epoch, order, key, token, logged, touchedAt: Number.NEGATIVE_INFINITY, generation };
    session.kept = keptState(
      { ...known, meshHash: hashMesh(session.opening.mesh) },
      {
        loggedAtCheckpoint: logged - log.length,
        loggedBytes: log.reduce((sum, { byteLength }) => sum + byteLength, 0),
        checkpointBytes: checkpoint?.byteLength ?? 0,
      },
    );
    session.kept.needsCheckpoint = session.residency === 'PARKED' && log.length > 0;
  }

  /** Takes a session over. @returns undefined = there is none @throws STORE_UNAVAILABLE */
  async claim(name: SessionName): Promise<ClaimedSession | undefined> {
    const stored = await ask(() => this.store.claim(name));
    return stored && { stored, generation: this.store.generation };
  }

  /**
   * Compares a session in memory with the store, and writes what that lacks. Under `continue`, it does nothing while
   * the store is down.
   *
   * @throws SessionMoved: it must be loaded again, or has ended; STORE_UNAVAILABLE
   */
  async confirm(session: Session): Promise<void> {
    try {
      await this.compare(session);
    } catch (thrown) {
      if (thrown instanceof StoreDown && this.options.onFailure === 'continue') return;
      throw unavailable(thrown);
    }
  }

  /**
   * It asks what the store has before it writes: the session may have ended or moved while the store was down, and would
   * otherwise be written anew.
   *
   * @throws SessionMoved, StoreDown
   */
  private async compare(session: Session): Promise<void> {
    const kept = session.kept!;
    const { generation: before } = this.store;
    const position = await this.store.peek(nameOf(session));
    const { generation } = this.store;
    // If replicas must acknowledge, they have the step as soon as they have a write that came after it.
    if (position && kept.pending?.token === position.token) await this.store.touch(refOf(session), ttlOf(session));
    // The one from before the query: the store may have lost everything after it had found the session.
    if (position) kept.generation = before;
    if (!position) {
      if (generation === kept.generation) throw new SessionGone('it is not in the store');
      this.fallBehind(session, 'The store has lost a session; it is written again from memory.');
    } else if (position.epoch > kept.epoch) {
      throw new SessionMoved('another process has claimed it');
    } else if (position.frame >= session.lastStep.frame) {
      const { pending } = kept;
      if (position.frame === pending?.frame && position.token === pending.token) {
        this.accept(session, pending, pending.token);
      } else if (position.frame > session.lastStep.frame || position.token !== kept.token) {
        // Also under an earlier epoch: of two histories the store's is authoritative, unless it is shorter.
        throw new SessionMoved('it has another frame');
      } else if (position.epoch < kept.epoch) {
        this.fallBehind(
          session,
          'The store no longer records that this process owns a session; the record is written again from memory.',
        );
      }
    } else {
      this.fallBehind(session, 'The store has lost frames of a session; they are written again from memory.');
    }
    if (!kept.isBehind) return;
    const checkpoint = await this.checkpoints.copy(session);
    // Otherwise a session that was deleted meanwhile would come back.
    if (session.hasEnded) throw new SessionGone('it has ended');
    await this.writeAll(session, checkpoint);
    // Not before: until it is written, the store lacks it because of the loss.
    kept.generation = generation;
  }

  /**
   * The computed step that the store has neither confirmed nor refused; there must be one. If another one is requested,
   * the session is loaded again, which fences the write that may still be under way. It leaves this process only when
   * the store has answered, with all its frames: otherwise a store that is down and then loses some, or loses
   * everything once more, would lose them for good.
   *
   * @throws SessionMoved if another step is requested; STORE_UNAVAILABLE
   */
  async takePending(session: Session, frame: bigint, request: ComputedStep['request']): Promise<ComputedStep> {
    const pending = session.kept!.pending!;
    if (pending.frame === frame && isSamePayload(pending.request, request)) return pending;
    for (let losses = 0; ; losses++) {
      await ask(() => this.compare(session));
      const claimed = await this.claim(nameOf(session));
      if (claimed || losses === MAX_LOSSES) throw new SessionMoved('it had a step whose fate was not known', claimed);
    }
  }

  /**
   * Accepts a step: first in the store, then here. The answer may be sent when this resolves.
   *
   * @throws SessionMoved, STORE_UNAVAILABLE: the step is then not accepted here, and its fate is settled by {@link confirm}
   */
  commit(session: Session, step: ComputedStep): Promise<ResolveAnswer> {
    return this.inTurn(session, () => this.commitNow(session, step));
  }

  private async commitNow(session: Session, step: ComputedStep): Promise<ResolveAnswer> {
    const { store, by, onFailure } = this.options;
    const kept = session.kept!;
    const { frame, request, task, outcome } = step;
    // While the step waited for its turn.
    if (session.hasEnded) throw new SessionMoved('it has ended');
    if (session.lastStep.frame >= frame) throw new SessionMoved('it has the frame already');
    // A step has been made, so the origin of the start is no longer reported.
    const { untangle: _, ...info } = infoOf(session);
    const token = kept.pending?.token ?? randomBytes(8).toString('hex');
    const commit = async () => {
      if (session.lastStep.frame >= frame) throw new SessionMoved('it has got the frame');
      return store.commit({
        ...refOf(session),
        from: session.lastStep.frame,
        frame,
        token,
        head: pack(headOf(session, step)),
        info: pack({ ...info, frame, lastReport: outcome.report }),
        entry: pack(entryOf(step, by)),
        ttlMs: ttlOf(session),
      });
    };
    try {
      if (kept.isBehind) await this.compare(session);
      await this.writeAgain(session, commit);
    } catch (thrown) {
      if (!(thrown instanceof StoreDown)) throw thrown;
      if (onFailure === 'refuse') {
        kept.pending = { ...step, token };
        session.recount();
        throw unavailable(thrown);
      }
      this.fallBehind(session, 'The store does not accept the frames of a session; the session continues in memory.');
      // The store may have it nevertheless.
      kept.token = token;
      return session.commit(frame, request, task, withWarning(outcome));
    }
    return this.accept(session, step, token);
  }

  /**
   * Changes the settings of a session here and in the store, or nowhere.
   *
   * @param change changes them here, and returns a function that undoes that; what it throws is thrown
   * @throws SessionMoved, STORE_UNAVAILABLE
   */
  change(session: Session, change: () => () => void): Promise<void> {
    return this.inTurn(session, async () => {
      // The store may have that frame, and the change would be written with the one before it.
      if (session.kept!.pending) await this.confirm(session);
      const takeBack = change();
      try {
        await this.update(session);
      } catch (thrown) {
        takeBack();
        throw thrown;
      }
    });
  }

  /**
   * Compares a session in memory with the store after the writes that are under way: for calls that are not about the session
   * itself, and do not wait for its steps.
   *
   * @throws SessionMoved, STORE_UNAVAILABLE
   */
  review(session: Session): Promise<void> {
    return this.inTurn(session, () => ask(() => this.compare(session)));
  }

  /**
   * Does one write after the other: frames and changes of settings. The store gets with each of them a description of the
   * session, which contains its last frame and its settings; none of them may be out of date, or still be refused.
   */
  private async inTurn<T>(session: Session, write: () => Promise<T>): Promise<T> {
    const kept = session.kept!;
    while (kept.deciding) await kept.deciding;
    const decision = write().finally(() => {
      kept.deciding = undefined;
    });
    kept.deciding = decision.then(
      () => {},
      () => {},
    );
    return decision;
  }

  private update(session: Session): Promise<void> {
    const fields = { settings: pack(session.settings), info: pack(infoOf(session)) };
    return ask(() => this.writeAgain(session, () => this.store.update(refOf(session), fields, ttlOf(session))));
  }

  /**
   * Writes again what the store has refused, if it did so only because it had lost the session or its last frames, which
   * were then written again from memory.
   *
   * @throws SessionMoved, StoreDown
   */
  private async writeAgain(session: Session, write: () => Promise<WriteVerdict>): Promise<void> {
    for (let losses = 0; ; losses++) {
      const verdict = await write();
      if (verdict === 'stored') return;
      if (losses === MAX_LOSSES) throw new SessionMoved(`the store has it ${verdict}`);
      await this.compare(session);
    }
  }

  /** @throws STORE_UNAVAILABLE */
  remove(name: SessionName): Promise<boolean> {
    return ask(() => this.store.remove(name));
  }

  /**
   * Removes a session that has ended here once more, because a write that was under way may have brought it back after the
   * store had lost it. No write of the session begins any longer.
   *
   * @returns whether it was there, or the store had lost it, so that only this process had it
   * @throws STORE_UNAVAILABLE
   */
  async removeAgain(session: Session): Promise<boolean> {
    const kept = session.kept!;
    while (kept.deciding) await kept.deciding;
    if (await this.remove(nameOf(session))) return true;
    await ask(() => this.store.peek(nameOf(session)));
    return this.store.generation !== kept.generation;
  }

  /**
   * Ends a session that was not used for its idle timeout, unless another process holds it. While the store is down, it is not
   * known whether one does; the store then ends the session by itself.
   *
   * @returns false if it is another process's, or had been ended there
   */
  async expire(session: Session): Promise<boolean> {
    const { store } = this;
    const kept = session.kept!;
    try {
      if (await store.remove(nameOf(session), kept.epoch)) return true;
      // The store may have lost it, so that only this process had it.
      return (await store.peek(nameOf(session))) === undefined && store.generation !== kept.generation;
    } catch (thrown) {
      if (thrown instanceof StoreDown) return true;
      throw thrown;
    }
  }

  /** @throws STORE_UNAVAILABLE */
  async list(tenant: string): Promise<readonly { readonly order: number; readonly info: SessionInfo }[]> {
    const listed = await ask(() => this.store.list(tenant));
    return listed.flatMap((one) => {
      const info = readInfo(one);
      return info ? [{ order: one.order, info }] : [];
    });
  }

  /** Describes a session that need not be in this process. @throws STORE_UNAVAILABLE */
  async describe(name: SessionName): Promise<SessionInfo | undefined> {
    const described = await ask(() => this.store.describe(name));
    return described && readInfo(described);
  }

  private accept(session: Session, { frame, request, task, outcome }: ComputedStep, token: string): ResolveAnswer {
    const kept = session.kept!;
    kept.pending = undefined;
    kept.token = token;
    kept.logged++;
    kept.loggedBytes += inputBytes(request, task);
    kept.computedMs += solverMs(outcome);
    kept.needsCheckpoint ||= !isRepeatable(outcome.report);
    kept.touchedAt = this.options.clock.monotonicMs();
    return session.commit(frame, request, task, outcome);
  }

  /** Writes everything of a session that the store lacks or has in an older state. @throws SessionMoved, StoreDown */
  private async writeAll(session: Session, checkpoint?: CheckpointRecord): Promise<void> {
    const { store } = this.options;
    const kept = session.kept!;
    const { opening, lastStep, place } = session;
    const present = presentHead(session);
    const head = present && { ...present, ...(checkpoint ? {} : { lastTarget: place.lastTarget }) };
    const scene = checkpoint && pack(checkpoint);
    // The store then ignores a checkpoint that was sent before: it would drop entries of frames that it does not contain.
    const logged = kept.logged + 1;
    const verdict = await store.replace({
      ...refOf(session),
      frame: lastStep.frame,
      token: kept.token,
      order: kept.order,
      ...(kept.key ? { key: kept.key } : {}),
      base: checkpoint ? 'checkpoint' : head ? 'lost' : 'opening',
      logged,
      meshHash: kept.meshHash,
      mesh: () => pack(opening.mesh),
      ttlMs: ttlOf(session),
      opening: pack(session.openingRecord(this.options.by)),
      settings: pack(session.settings),
      info: pack(infoOf(session)),
      ...(head ? { head: pack(head) } : {}),
      ...(scene ? { checkpoint: scene } : {}),
    });
    if (verdict !== 'stored') throw new SessionMoved(`the store has it ${verdict}`);
    kept.isBehind = false;
    kept.logged = logged;
    kept.loggedAtCheckpoint = logged;
    kept.loggedBytes = 0;
    kept.checkpointBytes = scene?.byteLength ?? 0;
    kept.needsCheckpoint = !checkpoint && head !== undefined;
    this.say(session, 'info', 'The store has all frames of a session again.');
  }

  private fallBehind(session: Session, message: string): void {
    const kept = session.kept!;
    if (!kept.isBehind) this.say(session, 'error', message);
    kept.isBehind = true;
  }

  private say(session: Session, level: 'error' | 'info', message: string): void {
    const { id, lastStep } = session;
    this.options.log?.({ level, event: 'store', session: id, frame: String(lastStep.frame) }, message);
  }
}
