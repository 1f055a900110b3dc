import type { ByteAccount } from './account.js';
import { Team } from './team.js';

/** The team of this thread: every stage that this thread computes runs on it. It has no helpers until it joins them. */
export const team = new Team();

/** Other resources that this thread shares with others of its process. */
export const here: {
  /** bytes on the device that all threads use; undefined = this thread does not share it */
  device: ByteAccount | undefined;
} = { device: undefined };
