// The work of pull-back/multipliers.wgsl on one row, for kernels that bind control, pullBack, candidates and kept.

fn takeMultiplier(c: u32) {
  let lambda = select(0.0, pullBack.warmContacts * kept[pairOf(aboutOf(c).x)], control.keptAt > 0u);
  let state = stateOf(c);
  setState(c, vec4f(lambda, state.y, state.z, lambda));
}

fn keepMultiplier(c: u32) {
  kept[pairOf(aboutOf(c).x)] = max(0.0, stateOf(c).x);
}
