import { requestOf } from '../../examples/resolve-scene.js';
import { SCENES } from '../../examples/scenes/index.js';
import type { GpuEngine } from '../../gpu/engine.js';
import type { Quality } from '../../src/contract/parameters.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { makeCases } from '../cases.js';
import { SLOW_SHARES } from '../scenes/slow-layers.js';
import { calibrate } from './calibration.js';
import { measureConvoy } from './convoy-item.js';
import { compareFilter } from './filter.js';
import { makeKnots } from './knot.js';
import { lanesMilliseconds, measureLanes } from './lanes.js';
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
  /** why the figures do not count: what was measured is not what the item is for, or an answer is wrong. The suite then fails. */
  readonly faults?: readonly string[];
}

/** Requests of one mesh. Those of a kind are alike but for the size of their meshes, so that one tells how long another takes. */
interface SceneCost {
  readonly kind: string;
  readonly vertices: number;
  /** requests, and what opens and tests the scene, which is taken for one more */
  readonly rounds: number;
}

/** What is known of an item's time before it has run: of a scene its size, of others milliseconds on a card, which are not learnt from. */
export type Cost = SceneCost | { readonly milliseconds: number };

/** One part of the suite. */
export interface Item {
  readonly name: string;
  readonly goal: string;
  readonly cost: Cost;
  readonly needsData?: boolean;
  /** it comes before smaller ones, unless it may take much of what is left: then it comes last */
  readonly isEarly?: boolean;
  run(place: Workplace): Promise<Outcome>;
}

/** Milliseconds that items take on a card, with much to spare: some hundred submissions; two processes that compile every kernel at the worst. */
const CALIBRATION_MS = 5_000;
const START_UP_MS = 20_000;

/** Numbers of lanes that are compared. */
const LANES = [1, 4];

/** Sessions that submit together; and milliseconds of their four rounds of frames, of ten steps of some milliseconds each where a session submits alone. */
const CONVOY_SESSIONS = 64;
const CONVOY_MS = 60_000;

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

const WHOLE = [0.7, 1];

const ofScene = ({ name, goal, vertices, shares, quality, needsData, make }: Session): Item => ({
  name: `${name}, ${quality}`,
  goal,
  cost: { kind: quality, vertices, rounds: shares.length + 1 },
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
    cost: { milliseconds: CALIBRATION_MS },
    run: () => calibrate(),
  },
  {
    name: 'start-up',
    goal: 'opening the engine without and with compiled kernels in the cache',
    cost: { milliseconds: START_UP_MS },
    run: () => measureStartUp(),
  },
  layers(1200, SLOW_SHARES, 'FAST', 'launch rate: steps of a tiny mesh'),
  layers(1200, SLOW_SHARES, 'BALANCED', 'launch rate: steps of a tiny mesh'),
  // With the tiny one it tells how the time grows with the size.
  layers(40_000, WHOLE, 'FAST', 'hard contact: a step under 1 ms of device time'),
  { ...layers(500_000, SLOW_SHARES.slice(0, 2), 'FAST', 'a million triangles, everything in contact'), isEarly: true },
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
    cost: { kind: 'service', vertices: 8_000, rounds: 7 },
    run: async () => measureService(await generated('sleeve', 8_000)()),
  },
  {
    name: 'state filter, sleeve 20000',
    goal: 'the test of a state with the help of the device',
    cost: { kind: 'filter', vertices: 20_000, rounds: 1 },
    run: async ({ engine }) => compareFilter(engine, await generated('sleeve', 20_000)()),
  },
  {
    name: 'lanes',
    goal: 'many small sessions on 1 and on 4 lanes',
    cost: { milliseconds: lanesMilliseconds(LANES) },
    run: () => measureLanes(LANES),
  },
  {
    name: `convoy, ${CONVOY_SESSIONS} sessions`,
    goal: 'small sessions on one device that submit together, and each alone, without and with verified answers',
    cost: { milliseconds: CONVOY_MS },
    run: () => measureConvoy(CONVOY_SESSIONS),
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
  layers(70_000, SLOW_SHARES, 'FAST', 'slow contact, 140k triangles: a frame under 5 ms of device time'),
  layers(70_000, SLOW_SHARES, 'BALANCED', 'slow contact, 140k triangles, with the pull-back'),
  scene('sleeve', 125_000, 'FAST', 'linear in size'),
  layers(125_000, SLOW_SHARES.slice(0, 2), 'FAST', 'linear in size, everything in contact'),
  layers(250_000, SLOW_SHARES.slice(0, 2), 'FAST', 'linear in size, everything in contact'),
  scene('sleeve', 500_000, 'FAST', 'a million triangles'),
];
