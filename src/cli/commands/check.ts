import type { KinematicPairs } from '../../contract/parameters.js';
import type { MeshCheckRequest } from '../../contract/requests.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendChoice } from '../backend.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { withInterrupt } from '../interrupt.js';
import { StatusLine } from '../progress.js';
import { readSubject, type Subject, type SubjectFlags } from '../subject.js';
import { describeCheck, hasFindings } from '../verdict.js';

export interface CheckFlags extends SubjectFlags, BackendChoice {
  readonly closerThan?: number;
  readonly maxPairs?: number;
  readonly kinematicPairs?: KinematicPairs;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `interstice check MESH [PATH_END]`; gives the exit code. */
export async function runCheck(
  path: string,
  pathEnd: string | undefined,
  flags: CheckFlags,
  cli: CliContext,
): Promise<number> {
  const subject = await readSubject('check', path, pathEnd, flags);
  const request = toRequest(subject, flags);
  const answer = await withInterrupt(async (signal) => {
    const waiting = `checking ${path}`;
    const line = new StatusLine(cli.terminal.err, cli.terminal.now, waiting, flags.quiet !== true).start();
    try {
      const backend = await cli.openBackend(flags);
      try {
        return await backend.check(request, { signal, receivedAt: performance.now() });
      } finally {
        await backend.close();
      }
    } finally {
      line.clear();
    }
  });
  if (flags.json === true) {
    cli.terminal.out.write(`${JSON.stringify(encodeJson('CheckResponse', answer, { arrays: true }), null, 2)}\n`);
  } else if (flags.quiet !== true) {
    const facts = {
      mesh: path,
      vertexCount: subject.file.vertexCount,
      pathEnd,
      closerThan: request.reportPairsCloserThan,
    };
    cli.terminal.out.write(`${describeCheck(answer, facts)}\n`);
  }
  return hasFindings(answer) ? EXIT.FOUND : EXIT.OK;
}

function toRequest(subject: Subject, flags: CheckFlags): MeshCheckRequest {
  const { file, other, mesh, options } = subject;
  const reportPairsCloserThan = flags.closerThan ?? options.reportPairsCloserThan;
  const maxPairs = flags.maxPairs ?? options.maxPairs;
  const kinematicPairs = flags.kinematicPairs ?? options.kinematicPairs;
  return {
    mesh,
    positions: file.positions,
    ...(other === undefined ? {} : { pathEnd: other.positions }),
    ...(reportPairsCloserThan === undefined ? {} : { reportPairsCloserThan }),
    ...(maxPairs === undefined ? {} : { maxPairs }),
    ...(kinematicPairs === undefined ? {} : { kinematicPairs }),
  };
}
