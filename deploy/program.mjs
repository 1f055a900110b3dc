/** Starts programs for the test programs of this folder, and waits for conditions. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * @param options of node:child_process, such as cwd and env
 * @returns the child; `said()`: its standard output so far; `log()`: both of its outputs, in the order of arrival;
 *   `ended`: its exit code (or the signal that ended it) once everything has been read
 */
export function startProgram(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let [said, log] = ['', ''];
  child.stdout.on('data', (chunk) => {
    said += chunk;
    log += chunk;
  });
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise((resolve) => {
    child.once('error', (error) => {
      log += error.message;
      resolve('not started');
    });
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return { child, said: () => said, log: () => log, ended };
}

/**
 * @param look called every tenth of a second; an exception counts as not yet
 * @returns its result as soon as that is neither undefined nor false
 * @throws Error after the time limit, with the last reason
 */
export async function until(what, milliseconds, look) {
  let reason = '';
  for (const since = Date.now(); Date.now() - since < milliseconds; await pause(100)) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
    } catch (thrown) {
      reason = `; ${thrown.message}`;
    }
  }
  throw new Error(`${what}: not within ${milliseconds / 1000} s${reason}`);
}
