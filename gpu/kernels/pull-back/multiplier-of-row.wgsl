// What pull-back/multipliers.wgsl does a row, for kernels that bind control, pullBack, candidates and kept.

fn takeMultiplier(c: u32) {
  let p = pairOf(candidates[c].about.x);
  let isKept = control.keptAt > 0u && kept[p].clock == control.keptAt;
  let lambda = select(0.0, pullBack.warmContacts * kept[p].lambda, isKept);
  candidates[c].state.x = lambda;
  candidates[c].state.w = lambda;
}

fn keepMultiplier(c: u32) {
  kept[pairOf(candidates[c].about.x)] = KeptMultiplier(max(0.0, candidates[c].state.x), control.clock);
}
