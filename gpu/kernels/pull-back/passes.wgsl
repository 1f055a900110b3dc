// Pass 0 of a step of the pull-back moves y by the multipliers that the step begins with; pass n > 0 is its n-th sweep. Every
// so many sweeps, the first among them, look at all edges.
fn isCompletePass(n: u32) -> bool {
  return n > 0u && (n - 1u) % COMPLETE_EVERY == 0u;
}
