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

/** The resources of an item. */
export interface Workplace {
  readonly engine: GpuEngine;
  /** contains dress/; undefined = items that need it are left out */
  readonly dataFolder: string | undefined;
  tell(text: string): void;
}

/** The result of an item: figures for the file, and lines for a reader. */
export interface Outcome {
  readonly figures: unknown;
  readonly lines: readonly string[];
  /**
   * why the figures are invalid: the item did not measure what it should, or an answer is wrong. The suite then fails.
   */
  readonly faults?: readonly string[];
}

/**
 * Requests of one mesh. Requests of one kind differ only in the size of their meshes, so the time of one predicts that
 * of another.
 */
interface SceneCost {
  readonly kind: string;
  readonly vertices: number;
  /** number of requests, plus one for opening and testing the scene */
  readonly rounds: number;
}

/**
 * What is known of the time of an item before it has run: for a scene its size, for others milliseconds on a card, from
 * which nothing is learnt.
 */
export type Cost = SceneCost | { readonly milliseconds: number };

/** One part of the suite. */
export interface Item {
  readonly name: string;
  readonly goal: string;
  readonly cost: Cost;
  readonly needsData?: boolean;
  /** whether it precedes smaller ones, unless it may take a large share of the remaining time; then it comes last */
  readonly isEarly?: boolean;
  run(place: Workplace): Promise<Outcome>;
}

/**
 * Milliseconds that items take on a card, with a large margin: some hundred submissions; in the worst case two
 * processes that compile every kernel.
 */
const CALIBRATION_MS = 5_000;
const START_UP_MS = 20_000;

/** Numbers of lanes to compare. */
const LANES = [1, 4];

/**
 * Number of sessions that submit together; and milliseconds of their four rounds of frames, of ten steps of some
 * milliseconds each if a session submits alone.
 */
const CONVOY_SESSIONS = 64;
const CONVOY_MS = 60_000;

const generated =
  (scene: string, vertices: number): (() => Promise<ResolveRequest>) =>
  async () =>
    requestOf(SCENES[scene](vertices));

/** A session of one scene: the ends of its frames, as shares of the way from start to target. */
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

const dress = (shares: readonly number[], quality: Quality, goal: string): Item =>
  ofScene({ name: 'dress', goal, vertices: 26_000, shares, quality, needsData: true, make: readDress });

/** In the order in which they run: first the item that explains all others, then by size. */
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
  // With the tiny one it shows how the time grows with the size.
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
  dress([1], 'FAST', 'a garment on a body, real data: a first request for the whole way'),
  dress(WHOLE, 'BALANCED', 'a garment on a body, real data'),
  layers(70_000, SLOW_SHARES, 'FAST', 'slow contact, 140k triangles: a frame under 5 ms of device time'),
  layers(70_000, SLOW_SHARES, 'BALANCED', 'slow contact, 140k triangles, with the pull-back'),
  scene('sleeve', 125_000, 'FAST', 'linear in size'),
  layers(125_000, SLOW_SHARES.slice(0, 2), 'FAST', 'linear in size, everything in contact'),
  layers(250_000, SLOW_SHARES.slice(0, 2), 'FAST', 'linear in size, everything in contact'),
  scene('sleeve', 500_000, 'FAST', 'a million triangles'),
];
