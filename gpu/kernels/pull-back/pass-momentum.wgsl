// What the projections of a pass of the pull-back need of `control`, which the kernels that include this bind. It is read once
// a pass: a read for each projection would delay the reads that follow it.

var<private> isFirstPass: bool;
// β of the extrapolation that precedes the pass
var<private> passMomentum: f32;

fn openPass() {
  isFirstPass = control.sweepsDone == 0u;
  passMomentum = control.momentum;
}
