import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** How often a waiting process checks the lock. */
const POLL_MS = 200;
/** An installation and a build take far less time; beyond this limit something hangs. */
const GIVE_UP_MS = 15 * 60_000;
/** Breaking a stale lock takes a millisecond: an older marker belongs to a process that has died. */
const BREAK_MARKER_MS = 10_000;

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM'; // it exists but belongs to another user
  }
};

/** Creates the file only if it does not exist; the file system makes this atomic. */
const createFile = (path, text) => {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
};

const readHolder = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return { pid: 0, host: '' }; // the file exists but is not written yet
    throw error;
  }
};

/** Only a process of this machine can be checked; for a holder on another machine (shared folder) the caller waits. */
const isStale = (holder) => holder?.host === hostname() && !isAlive(holder.pid);

/**
 * Removes the lock of a dead process. Two waiters may see the same stale lock; without the marker the slower one would
 * remove the lock that the faster one has just acquired.
 */
const breakStale = (path) => {
  const marker = `${path}.break`;
  if (!createFile(marker, '')) {
    const age = Date.now() - (statSync(marker, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > BREAK_MARKER_MS) rmSync(marker, { force: true });
    return;
  }
  try {
    if (isStale(readHolder(path))) rmSync(path, { force: true });
  } finally {
    rmSync(marker, { force: true });
  }
};

/**
 * Runs `work` while no other process holds the lock file.
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {(pid: number) => void} onWait called once if another process holds the lock
 * @template T
 */
export const withLock = async (path, work, onWait) => {
  mkdirSync(dirname(path), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, host: hostname() });
  const since = Date.now();
  for (let isReported = false; !createFile(path, mine); ) {
    const holder = readHolder(path);
    if (isStale(holder)) {
      breakStale(path);
      continue;
    }
    if (!isReported && holder) {
      onWait(holder.pid);
      isReported = true;
    }
    if (Date.now() - since > GIVE_UP_MS) {
      throw new Error(
        `Process ${holder?.pid} has held ${path} for 15 minutes. End it, or delete the file if the process is gone.`,
      );
    }
    await pause(POLL_MS);
  }
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
};
