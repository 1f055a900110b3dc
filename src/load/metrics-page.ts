import { get } from 'node:http';

/**
 * The Prometheus page of a service, over a new connection, because a kept one would be closed between two rare
 * requests.
 *
 * @param admin address of the admin port, http://HOST:PORT
 */
export const readPage = (admin: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get(`${admin}/metrics`, { agent: false }, async (answer) => {
      try {
        resolve(Buffer.concat(await answer.toArray()).toString('utf8'));
      } catch (error) {
        reject(error as Error);
      }
    });
    request.on('error', reject);
  });

/**
 * Sums a metric of a Prometheus page over its labels.
 *
 * @throws Error if the page has no metric of this name
 */
export function readMetric(page: string, name: string): number {
  const lines = page.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  if (lines.length === 0) throw new Error(`The metrics have no ${name}.`);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
