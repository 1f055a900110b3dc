import type { ByteAccount } from './account.js';
import { Team } from './team.js';

/** The team of this thread: every stage that this thread computes goes through it. It is alone until it joins helpers. */
export const team = new Team();

/** What else this thread shares with others of its process. */
export const here: {
  /** bytes on the device that all threads use; undefined = this thread shares it with nobody */
  device: ByteAccount | undefined;
} = { device: undefined };
