import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../src/paths.js';
import { openService } from '../clients/service.js';

/** The curl commands of the pages, in a real shell, against a real service. */

const PAGES = ['README.md', 'docs/api.md', 'examples/README.md'];

const skip = ['bash', 'curl'].some((name) => spawnSync(name, ['--version']).status !== 0) && 'no bash with curl';

/** Blocks for a shell that call the service. */
function blocksOf(page: string): string[] {
  const blocks = [...readFileSync(join(projectRoot, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)];
  return blocks.map(([, block]) => block ?? '').filter((block) => block.startsWith('curl '));
}

/** The examples as they are, but for the time budget of requests: a machine that does much else may need more. */
function linkExamples(cwd: string): void {
  const from = join(projectRoot, 'examples');
  const requests = join(cwd, 'examples', 'requests');
  mkdirSync(requests, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== 'requests') symlinkSync(join(from, name), join(cwd, 'examples', name));
  }
  for (const name of readdirSync(join(from, 'requests'))) {
    const text = readFileSync(join(from, 'requests', name), 'utf8');
    writeFileSync(join(requests, name), text.replace(/"timeBudget": "\d+s"/, '"timeBudget": "600s"'));
  }
}

/** Waits for the end of a job: the commands wait for seconds, which may be too few on a machine that does much else. */
async function stateAtEnd(job: string): Promise<string> {
  const { state } = (await (await fetch(`${job}?wait=20s`)).json()) as { readonly state: string };
  return ['JOB_WAITING', 'JOB_RUNNING'].includes(state) ? stateAtEnd(job) : state;
}

/** Runs a block; a refusal ends it with the exit code of curl. */
async function runBlock(block: string, cwd: string, env: Record<string, string>) {
  const shell = spawn('bash', ['-e'], { cwd, env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  shell.stdin.end(`curl() { command curl --fail "$@"; }\n${block}`);
  const code = await new Promise<number | null>((resolve) => shell.on('close', resolve));
  return { code, output };
}

t.test('every curl command of the pages works as it is printed', { skip }, async (t) => {
  const { url, close } = await openService();
  t.teardown(close);
  for (const page of PAGES) {
    const cwd = t.testdir();
    linkExamples(cwd);
    const target = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 1.2, 0.2, 0.1, 0.2, 1.2, 0.1];
    writeFileSync(join(cwd, 'target.f32'), new Uint8Array(Float32Array.from(target).buffer));
    const blocks = blocksOf(page);
    t.ok(blocks.length > 0, `${page} has commands`);
    let ID = '';
    for (const block of blocks) {
      // The job of the last block is known only from its first command.
      const [first = '', ...rest] = block.includes('/v1/jobs') ? block.split(/^(?=curl )/m) : [block];
      for (const part of rest.length > 0 ? [first, rest.join('')] : [first]) {
        const { code, output } = await runBlock(part.replaceAll('http://127.0.0.1:8080', url), cwd, { ID });
        t.equal(code, 0, `${page}: ${part.slice(0, 100)} ${code === 0 ? '' : output}`);
        ID = /"id":"([0-9a-f]{32})"/.exec(output)?.[1] ?? ID;
        if (part === first && rest.length > 0) t.equal(await stateAtEnd(`${url}/v1/jobs/${ID}`), 'JOB_DONE');
      }
    }
  }
});
