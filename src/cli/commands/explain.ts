import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { IntersticeError } from '../../contract/errors.js';
import type { ResolveAnswer, ResolveRequest } from '../../contract/requests.js';
import { type EmbeddedReport, REPORT_FORMAT, withReport } from '../../page/report-format.js';
import { packageVersion, projectRoot } from '../../paths.js';
import { encodeJson } from '../../transport/json/encode.js';
import { fromError, fromResolveAnswer } from '../../transport/messages/answers.js';
import type { Backend, CliContext } from '../backend.js';
import { EXIT, exitCodeOfReport, UsageError } from '../exit-codes.js';
import { formatPlural } from '../format.js';
import { filesOf, namingMeshes, readInputs, withRest } from '../inputs.js';
import { readingLimits } from '../local.js';
import { assertWritable, writeAtomically } from '../outputs.js';
import { requestMessage } from '../remote.js';
import { drawReport, type UpAxis } from '../report-picture.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';
import { boundsOf, type ResolveFlags, toRequest } from './resolve.js';

export interface ExplainFlags extends Omit<ResolveFlags, 'trace' | 'json'> {
  readonly output: string;
  /** path of a PNG */
  readonly picture?: string;
  readonly up?: UpAxis;
}

/** Intersecting pairs of a state that a report lists. */
const MAX_PAIRS = 20_000;
/** With larger meshes the states of the path would make the file too large to send. */
const MAX_PATH_VERTICES = 20_000;

/**
 * `interstice explain START TARGET`: a report as one file for any browser, also if the request is refused, because
 * refusals need an explanation most.
 *
 * @returns the exit code
 */
export async function runExplain(start: string, target: string, flags: ExplainFlags, cli: CliContext): Promise<number> {
  const page = readPage();
  const { output, picture, up = 'z' } = flags;
  for (const path of picture === undefined ? [output] : [output, picture])
    await assertWritable(path, [start, target, ...filesOf(flags)]);
  if (!/\.html?$/i.test(output)) {
    throw new UsageError(`The report is a page, so its name must end in .html, not ${output}.`, 'explain');
  }
  if (picture !== undefined && !/\.png$/i.test(picture)) {
    throw new UsageError(`The picture is a PNG, so its name must end in .png, not ${picture}.`, 'explain');
  }
  const read = await readInputs('resolve', start, target, flags, readingLimits(flags, cli.terminal.env, 'explain'));
  const inputs = { ...read, mesh: await withRest(read.mesh, read.file, flags, 'explain') };
  const request: ResolveRequest = {
    ...toRequest(inputs, flags, 'explain'),
    include: { contacts: true, vertices: true, reasons: true, path: inputs.mesh.vertexCount <= MAX_PATH_VERTICES },
  };
  const paths = { start, target, rest: flags.rest };
  const { answer, refusal, checks } = await namingMeshes(paths, () => explain(request, flags, cli));
  const report: EmbeddedReport = {
    format: REPORT_FORMAT,
    title: `${basename(start)} → ${basename(target)}`,
    version: packageVersion,
    up,
    request: encodeJson('ResolveRequest', requestMessage('ResolveRequest', request), { arrays: false }),
    ...(answer ? { response: encodeJson('ResolveResponse', fromResolveAnswer(answer), { arrays: false }) } : {}),
    ...(refusal ? { error: encodeJson('Error', fromError(refusal, ''), { arrays: false }) as never } : {}),
    checks,
  };
  await writeAtomically(output, [Buffer.from(withReport(page, report))]);
  if (picture !== undefined) await writeAtomically(picture, [drawReport(request, answer?.positions, up)]);
  if (flags.quiet !== true) {
    cli.terminal.out.write(`written  ${output}${picture === undefined ? '' : `, ${picture}`}\n`);
  }
  if (refusal) return namingMeshes(paths, () => Promise.reject(refusal));
  return answer ? exitCodeOfReport(answer.report) : EXIT.INTERNAL;
}

/** @throws UsageError if the page was not built */
function readPage(): string {
  const path = join(projectRoot, 'dist', 'page', 'interstice.html');
  if (existsSync(path)) return readFileSync(path, 'utf8');
  throw new UsageError('The page that shows a report was not built. Run npm run build.', 'explain');
}

interface Explained {
  readonly answer: ResolveAnswer | undefined;
  /** why there is no answer, if the input is at fault */
  readonly refusal: IntersticeError | undefined;
  readonly checks: EmbeddedReport['checks'];
}

function explain(request: ResolveRequest, flags: ExplainFlags, cli: CliContext): Promise<Explained> {
  const waiting = formatPlural(request.mesh.vertexCount, 'vertex', 'vertices');
  return withInterrupt((signal) =>
    withBackend(cli, flags, waiting, async (backend, line) => {
      try {
        const bounds = boundsOf(request.parameters ?? {});
        const answer = await backend.resolve(request, {
          signal,
          receivedAt: performance.now(),
          onProgress: (progress) => line.show(progress, bounds),
        });
        return { answer, refusal: undefined, checks: { target: await check(backend, request, 'target', signal) } };
      } catch (thrown) {
        // The report shows refusals of the request itself; any other failure is one of the program.
        if (!(thrown instanceof IntersticeError) || !EXPLAINED.has(thrown.code)) throw thrown;
        const checks = { start: await check(backend, request, 'start', signal) };
        return { answer: undefined, refusal: thrown, checks };
      }
    }),
  );
}

/** Refusals that a picture of the start explains. */
const EXPLAINED: ReadonlySet<string> = new Set(['INTERSECTING_START', 'TOLERANCE_TOO_SMALL', 'INVALID_MESH']);

/** The findings in one state, as the contract's JSON; undefined if it cannot be tested either. */
async function check(backend: Backend, request: ResolveRequest, state: 'start' | 'target', signal: AbortSignal) {
  try {
    const answer = await backend.check(
      { mesh: request.mesh, positions: request[state], maxPairs: MAX_PAIRS },
      { signal, receivedAt: performance.now() },
    );
    return encodeJson('CheckResponse', answer, { arrays: false });
  } catch (thrown) {
    if (thrown instanceof IntersticeError && EXPLAINED.has(thrown.code)) return undefined;
    throw thrown;
  }
}
