import { requestOf } from '../../examples/resolve-scene.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { GpuEngine } from '../../gpu/engine.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { makeCases } from '../cases.js';
import { calibrate } from './calibration.js';
import { compareFilter } from './filter.js';
import { makeKnots } from './knot.js';
import { measureLanes } from './lanes.js';
import { measureScene } from './scene-item.js';
import { measureService } from './service-item.js';
import { measureStartUp } from './start-up.js';

/** What an item has to work with. */
export interface Workplace {
  readonly engine: GpuEngine;
  /** holds dress/; undefined = the item that needs it is left out */
  readonly dataFolder: string | undefined;
  tell(text: string): void;
}

/** What an item found: figures for the file, and lines for a reader. */
export interface Outcome {
  readonly figures: unknown;
  readonly lines: readonly string[];
}

/** One part of the suite. */
export interface Item {
  readonly name: string;
  readonly goal: string;
  /** vertices that it computes with, for the forecast of its time; 0 = it takes about as long on every machine */
  readonly vertices: number;
  /** how often a scene of that size is computed */
  readonly rounds: number;
  readonly needsData?: boolean;
  run(place: Workplace): Promise<Outcome>;
}

const generated =
  (scene: string, vertices: number): (() => Promise<ResolveRequest>) =>
  async () =>
    requestOf(SCENES[scene](vertices));

/** A session of one scene: where its frames end, as shares of the way from start to target. */
interface Session {
  readonly name: string;
  readonly goal: string;
  readonly vertices: number;
  readonly shares: readonly number[];
  readonly quality: Quality;
  readonly needsData?: boolean;
  make(place: Workplace): Promise<ResolveRequest>;
}

/** The layers have met at half of their way; from then on each frame presses them together a little more. */
const SLOW = [0.6, 0.61, 0.62, 0.63, 0.64];
const WHOLE = [0.7, 1];

const ofScene = ({ name, goal, vertices, shares, quality, needsData, make }: Session): Item => ({
  name: `${name}, ${quality}`,
  goal,
  vertices,
  rounds: shares.length + 1,
  ...(needsData ? { needsData } : {}),
  run: async (place) => measureScene(place.engine, await make(place), shares, quality),
});

const layers = (vertices: number, shares: readonly number[], quality: Quality, goal: string): Item =>
  ofScene({ name: `layers ${vertices}`, goal, vertices, shares, quality, make: generated('layers', vertices) });

const scene = (name: string, vertices: number, quality: Quality, goal: string): Item =>
  ofScene({ name: `${name} ${vertices}`, goal, vertices, shares: WHOLE, quality, make: generated(name, vertices) });

async function readDress({ dataFolder }: Workplace): Promise<ResolveRequest> {
  for await (const { request } of makeCases(['dress'], [], dataFolder)) return request;
  throw new Error('There is no dress.');
}

/** In the order in which they run: what explains all others first, then by size. */
export const ITEMS: readonly Item[] = [
  {
    name: 'calibration',
    goal: 'what a dispatch, a turn of one workgroup, a round trip and a byte cost',
    vertices: 0,
    rounds: 1,
    run: () => calibrate(),
  },
  {
    name: 'start-up',
    goal: 'opening the engine without and with compiled kernels in the cache',
    vertices: 0,
    rounds: 1,
    run: () => measureStartUp(),
  },
  layers(1200, SLOW, 'FAST', 'launch rate: steps of a tiny mesh'),
  layers(1200, SLOW, 'BALANCED', 'launch rate: steps of a tiny mesh'),
  scene('sleeve', 8_000, 'BALANCED', 'garments on bodies'),
  scene('hair', 8_000, 'BALANCED', 'hair'),
  scene('sand', 8_000, 'BALANCED', 'sand'),
  ofScene({
    name: 'knots 4000',
    goal: 'rods that are pulled tight',
    vertices: 4_000,
    shares: [0.3, 0.4],
    quality: 'BALANCED',
    make: async () => makeKnots(4_000),
  }),
  {
    name: 'service, sleeve 8000',
    goal: 'verified answers: the first request and a warm session, through the operations of the service',
    vertices: 8_000,
    rounds: 6,
    run: async () => measureService(await generated('sleeve', 8_000)()),
  },
  {
    name: 'state filter, sleeve 20000',
    goal: 'the test of a state with the help of the device',
    vertices: 20_000,
    rounds: 1,
    run: async ({ engine }) => compareFilter(engine, await generated('sleeve', 20_000)()),
  },
  {
    name: 'lanes',
    goal: 'many small sessions on 1 and on 4 lanes',
    vertices: 16_000,
    rounds: 6,
    run: () => measureLanes([1, 4]),
  },
  ofScene({
    name: 'dress',
    goal: 'a garment on a body, real data',
    vertices: 26_000,
    shares: WHOLE,
    quality: 'BALANCED',
    needsData: true,
    make: readDress,
  }),
  layers(40_000, WHOLE, 'FAST', 'hard contact: a step under 1 ms of device time'),
  layers(70_000, SLOW, 'FAST', 'slow contact, 140k triangles: a frame under 5 ms of device time'),
  layers(70_000, SLOW, 'BALANCED', 'slow contact, 140k triangles, with the pull-back'),
  scene('sleeve', 125_000, 'FAST', 'linear in size'),
  layers(125_000, SLOW.slice(0, 2), 'FAST', 'linear in size, everything in contact'),
  layers(250_000, SLOW.slice(0, 2), 'FAST', 'linear in size, everything in contact'),
  scene('sleeve', 500_000, 'FAST', 'a million triangles'),
  layers(500_000, SLOW.slice(0, 2), 'FAST', 'a million triangles, everything in contact'),
];
