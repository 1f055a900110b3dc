import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CertificateVerdict } from '../../../checker/certificate.mjs';
import { IntersticeError } from '../../contract/errors.js';
import type { ParametersInput } from '../../contract/parameters.js';
import type { ResolveAnswer, ResolveRequest } from '../../contract/requests.js';
import { projectRoot } from '../../paths.js';
import type { BackendChoice, CliContext } from '../backend.js';
import { writeCertificate } from '../certificate.js';
import { EXIT, exitCodeOfReport, UsageError } from '../exit-codes.js';
import { formatPlural, formatRows } from '../format.js';
import { filesOf, type InputFlags, naming, namingMeshes, readInputs } from '../inputs.js';
import { readingLimits } from '../local.js';
import { assertWritable, writeAtomically } from '../outputs.js';
import { StatusLine } from '../progress.js';
import { withInterrupt } from '../terminal.js';
import { displayPath, quotePath } from '../welcome.js';
import { withBackend } from '../with-backend.js';
import { toRequest } from './resolve.js';

export interface CertifyFlags extends InputFlags, BackendChoice {
  readonly parameters: ParametersInput;
  readonly output?: string;
  readonly check?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** The module checker/certificate.mjs, located at run time because it lies beside the build. */
type Checker = typeof import('../../../checker/certificate.mjs');

/** `interstice certify START TARGET -o FILE`, or `interstice certify --check FILE`; returns the exit code. */
export async function runCertify(
  start: string | undefined,
  target: string | undefined,
  flags: CertifyFlags,
  cli: CliContext,
): Promise<number> {
  if (flags.check !== undefined) {
    if (start !== undefined || flags.output !== undefined) {
      throw new UsageError('--check reads a certificate; it takes no meshes and no -o.', 'certify');
    }
    const { check: file } = flags;
    const verdict = await check(file, await naming(file, () => readFile(file)), flags, cli);
    print(file, verdict, flags, cli);
    return verdict.isConfirmed ? EXIT.OK : EXIT.FOUND;
  }
  if (start === undefined || target === undefined || flags.output === undefined) {
    throw new UsageError('certify needs START, TARGET and -o FILE, or --check FILE.', 'certify');
  }
  await assertWritable(flags.output, [start, target, ...filesOf(flags)]);
  const { request, answer } = await namingMeshes({ start, target }, () => resolve(start, target, flags, cli));
  const { path, report } = answer;
  if (!path)
    throw new IntersticeError('INTERNAL', 'The answer has no path.', { hint: 'The service must be of this version.' });
  if (report.ignoredPairCount > 0) {
    throw new IntersticeError(
      'INTERSECTING_START',
      `The start has ${formatPlural(report.ignoredPairCount, 'pair')} that the answer does not protect; there is nothing to certify.`,
      { hint: 'Leave on-intersecting-start at reject.' },
    );
  }
  const bytes = Buffer.concat([...writeCertificate(request, answer, path)]);
  // Checked before it is written: an interrupted run leaves no certificate without a verdict.
  const verdict = await check(flags.output, bytes, flags, cli);
  await writeAtomically(flags.output, [bytes]);
  print(flags.output, verdict, flags, cli);
  return verdict.isConfirmed ? exitCodeOfReport(report) : EXIT.FOUND;
}

async function resolve(
  start: string,
  target: string,
  flags: CertifyFlags,
  cli: CliContext,
): Promise<{ readonly request: ResolveRequest; readonly answer: ResolveAnswer }> {
  const asked = toRequest(
    await readInputs('resolve', start, target, flags, readingLimits(flags, cli.terminal.env, 'certify')),
    flags,
    'certify',
  );
  const request: ResolveRequest = {
    ...asked,
    // The service also tests every piece, with the numbers of the certificate.
    parameters: { verify: 'PATH', ...asked.parameters },
    include: { path: true },
  };
  const waiting = `${formatPlural(request.mesh.vertexCount, 'vertex', 'vertices')}, resolving`;
  return withInterrupt((signal) =>
    withBackend(cli, flags, waiting, async (backend) => ({
      request,
      answer: await backend.resolve(request, { signal, receivedAt: performance.now() }),
    })),
  );
}

/** Checks a certificate with the checker that anybody can run. @param file its name */
async function check(
  file: string,
  bytes: Uint8Array,
  flags: CertifyFlags,
  { terminal }: CliContext,
): Promise<CertificateVerdict> {
  const { checkCertificate } = (await import(pathToFileURL(CHECKER).href)) as Checker;
  const line = new StatusLine(terminal.err, terminal.now, `checking ${file}`, flags.quiet !== true).start();
  try {
    return await checkCertificate(bytes, {
      onProgress: (done, all) => line.say(`checking state ${done} of ${all}`),
      yields: () => new Promise((resolve) => setImmediate(resolve)),
    });
  } finally {
    line.clear();
  }
}

function print(file: string, verdict: CertificateVerdict, flags: CertifyFlags, { terminal }: CliContext): void {
  if (flags.json === true) terminal.out.write(`${JSON.stringify({ ...verdict, header: undefined }, null, 2)}\n`);
  else if (flags.quiet !== true || !verdict.isConfirmed) terminal.out.write(`${describe(file, verdict)}\n`);
}

const CHECKER = join(projectRoot, 'checker', 'certificate.mjs');

function describe(
  file: string,
  { isConfirmed, problems, problemCount, states, vertices, uncoveredVertices, pairs, sha256 }: CertificateVerdict,
): string {
  const rows: [string, string][] = [
    ['certificate', file],
    ['sha256', sha256],
  ];
  if (!isConfirmed) {
    const more = problemCount > problems.length ? [`and ${problemCount - problems.length} more`] : [];
    [...problems, ...more].forEach((problem, n) => {
      rows.push([n === 0 ? 'problems' : '', problem]);
    });
    return ['refused', ...formatRows(rows)].join('\n');
  }
  rows.push([
    'confirmed',
    `${formatPlural(vertices, 'vertex', 'vertices')}, ${formatPlural(states, 'state')}; no state intersects, no piece collides`,
  ]);
  rows.push(['proved apart', formatPlural(pairs, 'pair that came near', 'pairs that came near')]);
  if (uncoveredVertices > 0) {
    const among = formatPlural(uncoveredVertices, 'kinematic vertex', 'kinematic vertices');
    rows.push(['not covered', `pairs of elements whose vertices all belong to the ${among}`]);
  }
  rows.push(['check it', `node ${[displayPath(CHECKER, process.cwd()), file].map(quotePath).join(' ')}`]);
  return ['confirmed', ...formatRows(rows)].join('\n');
}
