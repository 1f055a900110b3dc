// Marks the vertices that are relevant to the decision to search, for kernels that bind control, progress, vertexStep and
// pairVertex: the unfinished (r ≥ ε), and every vertex of a pair that bounds one, for a vertex that is pushed aside must not
// stop at the face of its box. The mark is the clock of the step, so that none has to be cleared. Mirrors
// ProgressWatch.#markRelevant (src/solver/cpu/progress-watch.ts).

// An unfinished vertex, which this pair bounds.
fn markRelevant(i: u32, limiter: u32) {
  atomicStore(&progress[i].relevant, control.clock);
  if (limiter == NO_PAIR) {
    return;
  }
  let ids = pairVertex[limiter];
  for (var s = 0u; s < 4u; s++) {
    if (ids[s] >= 0) {
      atomicStore(&progress[ids[s]].relevant, control.clock);
    }
  }
}
