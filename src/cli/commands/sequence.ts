import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { IntersticeError } from '../../contract/errors.js';
import type { Report } from '../../contract/report.js';
import { makeFolder } from '../../folders.js';
import { assertSameTopology, readMeshFile } from '../../mesh/files/index.js';
import { assertStaysWelded } from '../../mesh/weld.js';
import { algorithmVersion } from '../../paths.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendSession, CliContext } from '../backend.js';
import { EXIT, exitCodeOfReport, UsageError } from '../exit-codes.js';
import { formatNumber, formatPlural, formatSeconds } from '../format.js';
import { type Inputs, naming, readInputs, refuseInclude, withRest } from '../inputs.js';
import { readingLimits } from '../local.js';
import { toSingleIfNeeded, writeMeshAnswer } from '../mesh-output.js';
import { writingFailure } from '../outputs.js';
import { assertOutputs, countFinished, type Frame, hashesOf, keysOf, orderFrames } from '../sequence/frames.js';
import { addToJournal, hashFile, type JournalEntry, readJournal, writeJournal } from '../sequence/journal.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';
import type { ResolveFlags } from './resolve.js';

interface Sequence {
  readonly folder: string;
  readonly frames: readonly Frame[];
  readonly keys: readonly string[];
  /** number of leading frames that an earlier run has finished */
  readonly finished: number;
  readonly inputs: Inputs;
}

/**
 * `interstice resolve FRAMES... --sequence -o FOLDER`: the first frame is the start, and every answer is the start of
 * the next frame, in one session. Returns the exit code: the highest of all frames.
 */
export async function runSequence(files: readonly string[], flags: ResolveFlags, cli: CliContext): Promise<number> {
  const { sequence, journal } = await prepare(files, flags, cli);
  const { folder, frames, finished } = sequence;
  const kept = frames.slice(0, finished).map((_, frame) => journal.entries.get(frame)!);
  await writeJournal(folder, kept, journal.outputs);
  for (const entry of kept) report({ entry, answer: undefined, isSkipped: true }, frames[entry.frame]!, flags, cli);
  const codes = kept.map(({ exitCode }) => exitCode);
  if (finished < frames.length) codes.push(...(await walk(sequence, flags, cli)));
  if (flags.json !== true && flags.quiet !== true) {
    // The first frame is the start.
    const converged = codes.slice(1).filter((code) => code === EXIT.OK).length;
    const earlier = finished > 0 ? `, ${finished} of them written by an earlier run` : '';
    const answers = formatPlural(frames.length - 1, 'answer');
    cli.terminal.out.write(
      `${formatPlural(frames.length, 'frame')} in ${folder}${earlier}; ${converged} of ${answers} converged\n`,
    );
  }
  return Math.max(...codes);
}

async function prepare(files: readonly string[], flags: ResolveFlags, { terminal }: CliContext) {
  const { output: folder, trace } = flags;
  if (folder === undefined) throw new UsageError('--sequence needs -o FOLDER for the answers.', 'resolve');
  if (trace !== undefined) throw new UsageError('--trace cannot be used with --sequence.', 'resolve');
  const frames = orderFrames(files);
  const start = frames[0]!;
  const read = await readInputs(
    'resolve',
    start.input,
    undefined,
    flags,
    readingLimits(flags, terminal.env, 'resolve'),
  );
  refuseInclude(read.options, flags, 'resolve');
  const file = toSingleIfNeeded(read.file, start.name);
  const inputs = { ...read, file, mesh: await withRest(read.mesh, file, flags, 'resolve') };
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError(`Cannot write to ${folder}: it exists and is not a folder.`, 'resolve');
    if (code === 'ENOENT')
      throw new UsageError(`Cannot write to ${folder}: no folder can be created there.`, 'resolve');
    throw writingFailure(thrown, folder);
  }
  const journal = await readJournal(folder);
  await assertOutputs(folder, frames, journal);
  const settings = {
    algorithmVersion,
    parameters: { ...inputs.options.parameters, ...flags.parameters },
    ...budgetOf(inputs, flags),
    kinematic: inputs.kinematic,
    isWelded: flags.weld === true,
    rest: flags.rest === undefined ? undefined : await hashesOf(flags.rest),
    limits: [flags.strainMin, flags.strainMax],
  };
  const keys = await keysOf(frames, settings);
  const finished = await countFinished(folder, keys, journal);
  return { sequence: { folder, frames, keys, finished, inputs }, journal };
}

function budgetOf({ options }: Inputs, flags: ResolveFlags) {
  const timeBudgetSeconds = flags.timeBudget ?? options.timeBudgetSeconds;
  const onBudget = flags.onBudget ?? options.onBudget;
  return {
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget === undefined ? {} : { onBudget }),
  };
}

/** Computes the frames that are not finished. @returns their exit codes */
function walk(sequence: Sequence, flags: ResolveFlags, cli: CliContext): Promise<number[]> {
  const { folder, frames, finished, inputs } = sequence;
  return withInterrupt(async (signal) => {
    let done = finished;
    try {
      return await withBackend(cli, flags, formatPlural(frames.length, 'frame'), async (backend, line) => {
        const start = await startOf(sequence);
        const parameters = { ...inputs.options.parameters, ...flags.parameters };
        const request = { mesh: inputs.mesh, start, parameters, label: 'sequence' };
        const session = await naming(frames[Math.max(0, finished - 1)]!.input, () =>
          backend.openSession(request, signal),
        );
        const codes: number[] = [];
        try {
          for (; done < frames.length; done++) {
            signal.throwIfAborted();
            const { input } = frames[done]!;
            const show = (what = ''): void => line.say(`frame ${done} of ${frames.length - 1}, ${input}${what}`);
            show();
            const computed = await naming(input, () => compute(sequence, done, session, flags, cli, show));
            line.clear();
            report({ ...computed, isSkipped: false }, frames[done]!, flags, cli);
            codes.push(computed.entry.exitCode);
          }
        } finally {
          await session.close();
        }
        return codes;
      });
    } catch (error) {
      if (done > 0 && flags.quiet !== true) {
        cli.terminal.err.write(
          `${formatPlural(done, 'frame')} in ${folder} finished; the same command goes on from there.\n`,
        );
      }
      throw signal.aborted ? cancelled(error, done) : error;
    }
  });
}

/** An abort between two frames ends the run like one during a frame. */
const cancelled = (error: unknown, done: number): unknown =>
  error instanceof DOMException || (error instanceof IntersticeError && error.code === 'CANCELLED')
    ? new IntersticeError('CANCELLED', 'The request was cancelled.', {
        cause: error,
        ...(done > 0 ? { hint: 'No further answer was written.' } : {}),
      })
    : error;

/** The last answer of an earlier run, read back bit for bit, or the first frame. */
async function startOf({ folder, frames, finished, inputs }: Sequence) {
  if (finished === 0) return inputs.file.positions;
  const { positions } = await readMeshFile(join(folder, frames[finished - 1]!.name));
  return positions;
}

/** Computes and writes one frame, and lists it in the journal; the first is the unchanged start. */
async function compute(
  { folder, frames, keys, inputs }: Sequence,
  frame: number,
  session: BackendSession,
  flags: ResolveFlags,
  cli: CliContext,
  show: (what: string) => void,
): Promise<{ entry: JournalEntry; answer: Report | undefined }> {
  const { input, name } = frames[frame]!;
  let positions = inputs.file.positions;
  let answer: Report | undefined;
  if (frame > 0) {
    const target = toSingleIfNeeded(await readMeshFile(input), name);
    assertSameTopology(inputs.file, target);
    if (inputs.firstOf) assertStaysWelded(target.positions, inputs.firstOf);
    const { priority } = inputs.options;
    const result = await session.step(target.positions, {
      ...budgetOf(inputs, flags),
      // No answer depends on it, so the journal does not contain it.
      ...(priority === undefined ? {} : { priority }),
      onProgress: ({ steps, unfinishedVertices }) =>
        show(`, ${formatPlural(steps, 'step')}, ${formatPlural(unfinishedVertices, 'vertex', 'vertices')} unfinished`),
    });
    positions = result.positions;
    answer = result.report;
  }
  const exitCode = answer ? exitCodeOfReport(answer) : EXIT.OK;
  const told = { frame, key: keys[frame]!, output: name, status: answer?.status ?? 'START', exitCode };
  let entry: JournalEntry | undefined;
  await writeMeshAnswer(join(folder, name), input, inputs, positions, cli.terminal, async (temporary) => {
    entry = { ...told, outputHash: await hashFile(temporary) };
    await addToJournal(folder, entry);
  });
  return { entry: entry!, answer };
}

/** Writes a line for each frame; of frames from an earlier run only the status is known. */
function report(
  { entry, answer, isSkipped }: { entry: JournalEntry; answer: Report | undefined; isSkipped: boolean },
  { input }: Frame,
  flags: ResolveFlags,
  cli: CliContext,
): void {
  const { frame, output, status } = entry;
  if (flags.json === true) {
    const full = answer ? { report: encodeJson('Report', answer, { arrays: true }) } : {};
    cli.terminal.out.write(`${JSON.stringify({ frame, input, output, status, isSkipped, ...full })}\n`);
    return;
  }
  if (flags.quiet === true || isSkipped) return;
  const words = status.toLowerCase().replaceAll('_', ' ');
  const facts = answer
    ? `, ${formatPlural(answer.steps, 'step')}, rms ${formatNumber(answer.distanceToTargetRms)}, ${formatSeconds(answer.timings.total / 1e6)}`
    : '';
  cli.terminal.out.write(`${output}  ${words}${facts}\n`);
}
