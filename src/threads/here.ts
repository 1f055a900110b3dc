import { Team } from './team.js';

/** The team of this thread: every stage that this thread computes goes through it. It is alone until it joins helpers. */
export const team = new Team();
