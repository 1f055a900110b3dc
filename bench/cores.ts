import { createHash } from 'node:crypto';
import { openOperations, requestOf } from '../examples/resolve-scene.js';
import { SCENES } from '../examples/scenes/index.js';
import type { Operations } from '../src/contract/operations.js';
import type { Quality } from '../src/contract/parameters.js';
import type { ResolveRequest } from '../src/contract/requests.js';
import { FIDELITY_SCENES, missingFiles } from './fidelity/scenes.js';
import { type LaneProfile, profileLane } from './lane-profile.js';
import { STAGES, spreadOf } from './measure.js';
import { SLOW_SCENES } from './scenes/slow.js';
import { alignTable } from './table.js';
import { busiestSince, readThreadTimes } from './thread-times.js';

/**
 * Pairs of more than 5,000 vertices: smaller ones have hardly any stage that is worth sharing. Generated scenes are
 * made in a given size.
 */
export const CORES_SCENES = ['dress', 'dress-x8', 'layers', 'sleeve'] as const;
/** Scenes of the suite with a fixed size. */
const WHOLE_SCENES = [...FIDELITY_SCENES.filter(({ name }) => name.startsWith('dress')), ...SLOW_SCENES];

const DEFAULT_VERTICES = [10_000];

/** Number of files of the serial part that are named. */
const NAMED_FILES = 12;

export interface CoresPlan {
  readonly scenes: readonly string[];
  readonly vertices: readonly number[];
  readonly qualities: readonly Quality[];
  /** numbers of cores, which alternate */
  readonly cores: readonly number[];
  readonly repeat: number;
  readonly warmUp: number;
  readonly dataFolder: string | undefined;
  print(text: string): void;
  tell(text: string): void;
}

interface Case {
  readonly name: string;
  readonly request: ResolveRequest;
}

async function* makeCases({ scenes, vertices, dataFolder, tell }: CoresPlan): AsyncGenerator<Case> {
  for (const name of scenes) {
    const scene = WHOLE_SCENES.find((each) => each.name === name);
    if (scene) {
      if (missingFiles(scene, dataFolder).length > 0) tell(`${name} is left out: its data is not there`);
      else yield { name, request: await scene.make(dataFolder ?? '') };
      continue;
    }
    for (const count of vertices.length > 0 ? vertices : DEFAULT_VERTICES) {
      yield { name, request: requestOf(SCENES[name](count)) };
    }
  }
}

const COLUMNS = [...STAGES, 'solve', 'total', 'processor', 'busiest thread'] as const;
type Times = Record<(typeof COLUMNS)[number], number>;

/**
 * Measures one whole request: milliseconds of its stages, of all of them, of all threads' processor time, and of the
 * busiest one's.
 */
async function measureOnce(operations: Operations, request: ResolveRequest): Promise<{ times: Times; digest: string }> {
  const threads = readThreadTimes();
  const before = process.cpuUsage();
  const { report, positions } = await operations.resolve(request);
  const { user, system } = process.cpuUsage(before);
  const times = Object.fromEntries(STAGES.map((stage) => [stage, report.timings[stage] / 1000])) as Times;
  times.solve = times.search + times.geometry + times.backward + times.forward;
  times.total = report.timings.total / 1000;
  times.processor = (user + system) / 1000;
  times['busiest thread'] = busiestSince(threads);
  const digest = createHash('sha256')
    .update(new Uint8Array(positions.buffer.slice(0)))
    .digest('hex');
  return { times, digest };
}

/**
 * Measures whole requests on the CPU engine with several numbers of cores, which alternate, so that other work of the
 * machine slows all of them equally.
 *
 * @returns whether every answer of a request had the same bytes
 */
export async function runCores(plan: CoresPlan): Promise<boolean> {
  const { qualities, cores, repeat, warmUp, print, tell } = plan;
  const rows: string[][] = [['scene', 'vertices', 'quality', 'cores', ...COLUMNS, 'same bytes']];
  let isEqual = true;
  const profiles: string[] = [];
  const services = new Map<number, Operations>();
  for (const count of cores) services.set(count, await openOperations('cpu', 1, count));
  try {
    for await (const { name, request } of makeCases(plan)) {
      for (const quality of qualities) {
        const asked = { ...request, parameters: { ...request.parameters, quality } };
        const runs = new Map<number, Times[]>(cores.map((count) => [count, []]));
        const digests = new Set<string>();
        tell(
          `${name}, ${request.mesh.vertexCount} vertices, ${quality}: ${warmUp} + ${repeat} runs with ${cores} cores …`,
        );
        for (let n = -warmUp; n < repeat; n++) {
          for (const [count, operations] of services) {
            const { times, digest } = await measureOnce(operations, asked);
            digests.add(digest);
            if (n >= 0) runs.get(count)?.push(times);
          }
        }
        const isSame = digests.size === 1;
        isEqual &&= isSame;
        const medians = [...runs].map(([count, all]) => [count, mediansOf(all)] as const);
        const [, first] = medians[0];
        for (const [count, times] of medians) {
          const cells = COLUMNS.map((column) => {
            const ratio = count === medians[0][0] ? '' : ` (${(first[column] / times[column]).toFixed(2)} ×)`;
            return `${times[column].toFixed(times[column] < 100 ? 1 : 0)}${ratio}`;
          });
          rows.push([name, String(request.mesh.vertexCount), quality, String(count), ...cells, isSame ? 'yes' : 'NO']);
        }
        const most = Math.max(...cores);
        const operations = services.get(most);
        if (operations && most > 1) {
          const profile = await profileLane(() => operations.resolve(asked));
          profiles.push(`${name}, ${quality}, ${most} cores: ${describe(profile)}`);
        }
      }
    }
  } finally {
    for (const operations of services.values()) await operations.close();
  }
  print(
    `\nwhole requests, medians of ${repeat} runs after ${warmUp} uncounted, milliseconds; in brackets how many times faster\n`,
  );
  print(alignTable(rows));
  for (const profile of profiles) print(`\n${profile}`);
  return isEqual;
}

/** Describes the work of the lane's own thread in one more run: the part that helpers shared, and the rest, by file. */
function describe({ shared, serial, files }: LaneProfile): string {
  const of = (milliseconds: number): string => `${((100 * milliseconds) / (shared + serial)).toFixed(1)} %`;
  const named = files.slice(0, NAMED_FILES).map(([file, time]) => `${file} ${of(time)}`);
  return `shared stages ${of(shared)} of ${(shared + serial).toFixed(0)} ms, serial ${of(serial)}: ${named.join(', ')}`;
}

function mediansOf(runs: readonly Times[]): Times {
  return Object.fromEntries(
    COLUMNS.map((column) => [column, spreadOf(runs.map((run) => run[column])).median]),
  ) as Times;
}
