/** Programs that the test programs of this folder start, and what they wait for. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * @param options of node:child_process, as cwd and env
 * @returns the child; `said()`: what it has written to standard output; `log()`: to both, in the order of arrival; `ended`: its exit code
 *   (or the signal that ended it) when all has been read
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
 * @param look asked every tenth of a second; whatever it throws counts as not yet
 * @returns what it gave as soon as that is neither undefined nor false
 * @throws Error after the time, with the last reason
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
