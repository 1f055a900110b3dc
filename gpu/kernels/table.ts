/**
 * Folders of this directory, in the order of a step; `common` contains no stage, and `filter` and `proof` are not part
 * of a step.
 */
export const STAGES = [
  'search',
  'backward',
  'forward',
  'control',
  'pull-back',
  'small',
  'few',
  'listed',
  'chosen',
  'joined',
  'strain',
  'filter',
  'proof',
] as const;
export type KernelStage = (typeof STAGES)[number];

/** The stages of a step; a mesh with strain limits also has `strain`. */
export const STEP_STAGES = ['backward', 'forward', 'control', 'pull-back'] as const satisfies readonly KernelStage[];

/**
 * Kernels that each do the work of several others. In one workgroup: sweeps of the pull-back over small meshes, and
 * over larger ones if few vertices take part; sweeps of Algorithm 1 if few edges act; the selection of few contacts.
 * With one thread per element: the selection of many contacts; the vertices' part of a step of Algorithm 1. A device
 * may do without them.
 */
export const ALONE_STAGES = ['small', 'few', 'listed', 'chosen', 'joined'] as const satisfies readonly KernelStage[];
export type AloneStage = (typeof ALONE_STAGES)[number];

/**
 * Largest number of storage buffers that their kernels bind; the others bind at most eight, which every adapter allows.
 */
export const ALONE_BINDINGS = 16;

/** Whether a device that can bind this many storage buffers at a time can have them. */
export const canSweepAlone = (storageBuffers: number): boolean => storageBuffers >= ALONE_BINDINGS;

/** Returns all stages that a step may have on a device that can bind this many storage buffers at a time. */
export const stepStagesWith = (storageBuffers: number): readonly KernelStage[] =>
  canSweepAlone(storageBuffers) ? [...STEP_STAGES, ...ALONE_STAGES] : STEP_STAGES;

/** One kernel. */
export interface KernelRow {
  /** File under gpu/kernels, without `.wgsl`; its folder is the stage. */
  readonly file: `${KernelStage}/${string}`;
  /** Equations of the paper that the kernel evaluates. */
  readonly equations?: string;
  /** The CPU function that it mirrors: a module under src/solver and a function, or a method, in it. */
  readonly mirrors?: string;
}

/**
 * Every kernel of the engine by its entry point, in the order of their dispatches. test/gpu/kernels holds it to the
 * files.
 */
export const KERNELS = {
  // Search: trust boxes, the proximity set, prefix sums.
  planSearch: { file: 'search/plan' },
  fillTrustBoxes: { file: 'search/trust-boxes', mirrors: 'cpu/boxes fillTrustBoxes' },
  boxElements: { file: 'search/element-boxes', mirrors: 'cpu/hulls fillHulls' },
  refitLeaves: { file: 'search/refit', mirrors: 'bvh fillLeaves' },
  refitNodes: { file: 'search/refit', mirrors: 'bvh Bvh.#refit' },
  walkPairs: { file: 'search/walk-pairs', mirrors: 'bvh Bvh.forEachOverlap' },
  planScan: { file: 'search/scan-plan' },
  scanBlocks: { file: 'search/scan-blocks' },
  addBlocks: { file: 'search/scan-blocks' },
  settleSearch: { file: 'search/plan' },
  gatherKept: { file: 'search/keep-pairs', mirrors: 'cpu/pair-set PairSet.keepOnly' },
  settlePairs: { file: 'search/keep-pairs', mirrors: 'cpu/pair-set PairSet.keepOnly' },
  // Backward step: edge lengths, geometry, contacts, sweeps.
  edgeRows: { file: 'backward/edge-rows', equations: '13', mirrors: 'cpu/edges EdgeLengths.linearise' },
  edgesWide: { file: 'backward/edges', equations: '13', mirrors: 'cpu/edges EdgeLengths.sweep' },
  edgesTail: { file: 'backward/edges', equations: '13', mirrors: 'cpu/edges EdgeLengths.sweep' },
  prepare: { file: 'backward/prepare' },
  listForGeometry: { file: 'backward/list-near-pairs', mirrors: 'cpu/active-pairs ActivePairs.gather' },
  geometry: { file: 'backward/geometry', equations: '10-12', mirrors: 'cpu/candidates findCandidates' },
  count: { file: 'backward/contacts-select', mirrors: 'cpu/select-contacts selectContacts' },
  offsets: { file: 'backward/contacts-offsets' },
  fill: { file: 'backward/contacts-select', mirrors: 'cpu/select-contacts selectContacts' },
  selectUnique: { file: 'backward/contacts-select', mirrors: 'cpu/unique-contacts dropDuplicates' },
  rank: { file: 'backward/contacts-select', mirrors: 'cpu/closest-contacts markFarther' },
  contactRows: { file: 'backward/contacts-rows', equations: '9-12', mirrors: 'cpu/contact-rows fillRows' },
  listRows: { file: 'backward/contacts-links' },
  linkRows: { file: 'backward/contacts-links' },
  sweepRound: { file: 'backward/sweep', equations: '9', mirrors: 'cpu/contacts Contacts.sweep' },
  sweepTail: { file: 'backward/sweep', equations: '9', mirrors: 'cpu/contacts Contacts.sweep' },
  slide: { file: 'backward/slide', mirrors: 'cpu/slide Slide.apply' },
  // Forward step: guard, bounds, write, check, commit.
  guard: { file: 'forward/guard', equations: '14', mirrors: 'cpu/forward Forward.#guard' },
  listForBound: { file: 'forward/list-bounded-pairs', mirrors: 'cpu/bound staysApart' },
  bound: { file: 'forward/bound', equations: '14-17', mirrors: 'cpu/bound boundPairs' },
  write: { file: 'forward/write', equations: '14', mirrors: 'cpu/forward Forward.#write' },
  check: { file: 'forward/check', mirrors: 'cpu/check checkPairs' },
  commit: { file: 'forward/commit', equations: '17', mirrors: 'cpu/forward Forward.#commit' },
  aimPrescribed: { file: 'forward/arrive', mirrors: 'cpu/arrive aimAtPrescribed' },
  keepWhole: { file: 'forward/arrive', mirrors: 'cpu/arrive allOrNothing' },
  settleArrived: { file: 'forward/arrive', mirrors: 'cpu/arrive settleArrived' },
  // Control: data from one kernel for the next, and the end of a run.
  begin: { file: 'control/begin', mirrors: 'cpu/motion Residuals.begin' },
  open: { file: 'control/decide', mirrors: 'cpu/proximity Proximity.isValidFor' },
  forget: { file: 'control/pairs-reset' },
  arm: { file: 'control/decide' },
  afterSearch: { file: 'control/decide' },
  watchForSearch: { file: 'control/decide' },
  afterGeometry: { file: 'control/decide' },
  watch: { file: 'control/watch-progress', mirrors: 'cpu/progress-watch ProgressWatch.wantsSearch' },
  decide: { file: 'control/decide', mirrors: 'cpu/progress-watch ProgressWatch.judge' },
  openArrival: { file: 'control/arrival', mirrors: 'cpu/two-way TwoWay.#arrive' },
  closeArrival: { file: 'control/arrival', mirrors: 'cpu/two-way TwoWay.#arrive' },
  packAnswer: { file: 'control/pack-answer' },
  countAndPack: { file: 'control/pack-answer' },
  // Pull-back: kernels of its steps in addition to, or instead of, those of Algorithm 1.
  beginPull: { file: 'pull-back/begin', mirrors: 'cpu/pull-back-step PullBackStep.begin' },
  restoreBest: { file: 'pull-back/begin', mirrors: 'cpu/pull-back PullBack.#shortenEdges' },
  beginEdges: { file: 'pull-back/begin-edges', mirrors: 'cpu/edge-limits EdgeLimits.reset' },
  openPull: { file: 'pull-back/decide', mirrors: 'cpu/pull-back PullBack.run' },
  openShortening: { file: 'pull-back/decide', mirrors: 'cpu/pull-back PullBack.#shortenEdges' },
  clearAims: { file: 'pull-back/shortfalls', mirrors: 'cpu/pull-back-step PullBackStep.begin' },
  findShortfalls: { file: 'pull-back/shortfalls', mirrors: 'cpu/shortfalls findShort' },
  gatherMultipliers: { file: 'pull-back/carry-multipliers', mirrors: 'cpu/pair-set PairSet.keepOnly' },
  settleMultipliers: { file: 'pull-back/carry-multipliers', mirrors: 'cpu/pair-set PairSet.keepOnly' },
  rebuild: { file: 'pull-back/rebuild', mirrors: 'cpu/paces Paces.rebuild' },
  holdStill: { file: 'pull-back/rebuild', mirrors: 'cpu/pull-back PullBack.#shortenEdges' },
  openColours: { file: 'pull-back/colours' },
  colourRound: { file: 'pull-back/colours' },
  colourTail: { file: 'pull-back/colours' },
  orderRows: { file: 'pull-back/colours' },
  takeMultipliers: { file: 'pull-back/multipliers', mirrors: 'cpu/warm-contacts WarmContacts.begin' },
  limitsWide: { file: 'pull-back/edge-limits', mirrors: 'cpu/sweep-edges sweepEdges' },
  limitsTail: { file: 'pull-back/edge-limits', mirrors: 'cpu/sweep-edges sweepEdges' },
  warmRound: { file: 'pull-back/warm-sweep', equations: '9', mirrors: 'cpu/sweep-rows sweepContacts' },
  warmTail: { file: 'pull-back/warm-sweep', equations: '9', mirrors: 'cpu/sweep-rows sweepContacts' },
  turn: { file: 'pull-back/momentum', mirrors: 'cpu/momentum addMomentum' },
  closeSweep: { file: 'pull-back/close-sweep', mirrors: 'cpu/accelerated-sweeps AcceleratedSweeps.run' },
  extrapolate: { file: 'pull-back/momentum', mirrors: 'cpu/momentum addMomentum' },
  keepMultipliers: { file: 'pull-back/multipliers', mirrors: 'cpu/warm-contacts WarmContacts.end' },
  dropMultipliers: { file: 'pull-back/multipliers' },
  weighLengths: { file: 'pull-back/lengths', mirrors: 'cpu/edge-limits EdgeLimits.excess' },
  judgeLengths: { file: 'pull-back/judge-lengths', mirrors: 'cpu/edge-limits EdgeLimits.wantsMore' },
  continueSweeps: { file: 'pull-back/judge-lengths' },
  endSweeps: { file: 'pull-back/judge-lengths' },
  aim: { file: 'pull-back/aim', mirrors: 'cpu/paces Paces.countUnpushed' },
  awaitSearch: { file: 'pull-back/decide' },
  listHeld: { file: 'pull-back/hold-back', mirrors: 'cpu/edge-limits EdgeLimits.holdBack' },
  holdBack: { file: 'pull-back/hold-back', mirrors: 'cpu/edge-limits EdgeLimits.holdBack' },
  nextPiece: { file: 'pull-back/pieces', mirrors: 'cpu/pull-back-step PullBackStep.forward' },
  endPieces: { file: 'pull-back/pieces', mirrors: 'cpu/pull-back-step PullBackStep.forward' },
  showPiece: { file: 'pull-back/show-piece', mirrors: 'cpu/pull-back-step PullBackStep.forward' },
  settleStep: { file: 'pull-back/settle', mirrors: 'cpu/pull-back-step PullBackStep.forward' },
  weigh: { file: 'pull-back/merit', mirrors: 'cpu/merit Merit.of' },
  ratePull: { file: 'pull-back/decide', mirrors: 'cpu/pull-back PullBack.#pull' },
  decidePull: { file: 'pull-back/decide', mirrors: 'cpu/pull-back PullBack.#pull' },
  keepBest: { file: 'pull-back/keep-best', mirrors: 'cpu/pull-back-step PullBackStep.keep' },
  conclude: { file: 'pull-back/conclude', mirrors: 'cpu/motion Residuals.settle' },
  closeRun: { file: 'pull-back/decide' },
  // The sweeps of a step over a small mesh in one dispatch, and those of a larger one if few vertices take part.
  sweepSmall: { file: 'small/sweeps', equations: '9', mirrors: 'cpu/accelerated-sweeps AcceleratedSweeps.run' },
  sweepFew: { file: 'few/sweeps', equations: '9', mirrors: 'cpu/accelerated-sweeps AcceleratedSweeps.run' },
  // The sweeps of a step of Algorithm 1 if few edges act.
  openStep: { file: 'listed/open-step', equations: '13', mirrors: 'cpu/edges EdgeLengths.sweep' },
  sweepListedEdges: { file: 'listed/sweeps', equations: '13', mirrors: 'cpu/edges EdgeLengths.sweep' },
  sweepListed: { file: 'listed/sweeps', equations: '9, 13', mirrors: 'cpu/contacts Contacts.sweep' },
  // From the geometry of a step to the rows of its sweep.
  countedGeometry: { file: 'chosen/geometry', equations: '10-12', mirrors: 'cpu/candidates findCandidates' },
  reserveLists: { file: 'chosen/select' },
  chooseRows: { file: 'chosen/rows', equations: '9-12', mirrors: 'cpu/contact-rows fillRows' },
  selectAlone: { file: 'chosen/select', equations: '9-12', mirrors: 'cpu/select-contacts selectContacts' },
  // Around the forward step of Algorithm 1.
  slideAndGuard: { file: 'joined/slide-and-guard', equations: '14', mirrors: 'cpu/forward Forward.#guard' },
  commitAndWatch: { file: 'joined/commit-and-watch', equations: '17', mirrors: 'cpu/forward Forward.#commit' },
  // Strain limits of the pull-back, for meshes that have them.
  openStrains: { file: 'strain/open', mirrors: 'cpu/strain-limits StrainLimits.reset' },
  freeEdges: { file: 'strain/open', mirrors: 'cpu/shape-limits ShapeLimits.of' },
  settlePaces: { file: 'strain/paces', mirrors: 'cpu/component-shares ComponentShares.settlePaces' },
  noteStart: { file: 'strain/shares' },
  strainsWide: { file: 'strain/sweep', mirrors: 'cpu/sweep-strains sweepStrains' },
  strainsTail: { file: 'strain/sweep', mirrors: 'cpu/sweep-strains sweepStrains' },
  settleShares: { file: 'strain/shares', mirrors: 'cpu/component-shares ComponentShares.ofMultipliers' },
  findFrames: { file: 'strain/frames', mirrors: 'cpu/strain-limits StrainLimits.begin' },
  spanMotions: { file: 'strain/shares', mirrors: 'cpu/component-shares ComponentShares.ofMotions' },
  weighStretch: { file: 'strain/stretch', mirrors: 'cpu/strain-limits StrainLimits.#sumExcess' },
  judgeSweeps: { file: 'strain/decide', mirrors: 'cpu/strain-limits StrainLimits.wantsMoreSweeps' },
  shortenMotions: { file: 'strain/shares', mirrors: 'cpu/component-shares ComponentShares.shortenMotions' },
  listHeldStrains: { file: 'strain/hold-back', mirrors: 'cpu/strain-limits StrainLimits.holdBack' },
  holdBackStrains: { file: 'strain/hold-back', mirrors: 'cpu/strain-limits StrainLimits.holdBack' },
  weighStrains: { file: 'strain/merit', mirrors: 'cpu/strain-limits StrainLimits.excess' },
  // State filter of the verifier, not part of a step.
  boxTriangles: { file: 'filter/boxes' },
  joinBoxes: { file: 'filter/boxes' },
  walkEdges: { file: 'filter/walk' },
  // Kernels with which an adapter proves its arithmetic.
  proveHeights: { file: 'proof/heights' },
} as const satisfies Readonly<Record<string, KernelRow>>;

export type EntryPoint = keyof typeof KERNELS;
export type KernelFile = (typeof KERNELS)[EntryPoint]['file'];

/** Returns the entry points of these stages' kernels by file. */
export function kernelFilesOf(...stages: readonly KernelStage[]): ReadonlyMap<KernelFile, readonly EntryPoint[]> {
  const files = new Map<KernelFile, EntryPoint[]>();
  for (const [entry, { file }] of Object.entries(KERNELS) as [EntryPoint, { file: KernelFile }][]) {
    if (!stages.includes(file.slice(0, file.indexOf('/')) as KernelStage)) continue;
    files.set(file, [...(files.get(file) ?? []), entry]);
  }
  return files;
}
