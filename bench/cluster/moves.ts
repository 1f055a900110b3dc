import type { StoredState } from './cluster.js';

/** The state of all sessions in the store at one moment, by their ids. */
export type StoredStates = ReadonlyMap<string, StoredState>;

/** A session that was taken over between two moments. */
export interface Move {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** number of takeovers: the difference of its epochs */
  readonly times: number;
}

export function findMoves(before: StoredStates, after: StoredStates): readonly Move[] {
  return [...before].flatMap(([id, { owner: from, epoch }]) => {
    const now = after.get(id);
    return now && now.epoch !== epoch ? [{ id, from, to: now.owner, times: now.epoch - epoch }] : [];
  });
}

/** Sessions that are gone, and those whose store has accepted more or fewer frames than they have advanced. */
export function findLostFrames(before: StoredStates, after: StoredStates): string[] {
  return [...before].flatMap(([id, { frame, accepted }]) => {
    const now = after.get(id);
    if (!now) return [`session ${id} is gone`];
    const [advanced, counted] = [now.frame - frame, now.accepted - accepted];
    return advanced === counted ? [] : [`session ${id} advanced by ${advanced} frames, and ${counted} were accepted`];
  });
}
