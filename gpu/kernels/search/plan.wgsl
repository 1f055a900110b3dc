// The two decisions of a search, by one thread. planSearch gives every dispatch of the first half its size, or none if no search
// is requested. settleSearch, once all pairs are counted, lets the second half write them if they fit; otherwise nothing is
// written (the budget test of src/solver/cpu/search.ts, PairBudgetExceeded).
//
// As little as possible is behind a branch: unconditional work of one thread is cheap for a software driver to compile. P
// stays invalid from the first dispatch to the last: new boxes with the old P would be unsafe.
//
// In: control, fixed (workgroups of each dispatch; 0 where the demand decides), offsets (after the prefix sum), total.
// Out: sizes (indirect arguments, three words a dispatch), control; extent and the count of chunks for a new search.
// #include "search/scan-levels.wgsl"
// #include "search/marks.wgsl"
// #include "search/extent.wgsl"

@group(0) @binding(0) var<uniform> plan: SearchPlan;
@group(0) @binding(1) var<storage, read_write> control: SearchControl;
@group(0) @binding(2) var<storage, read> fixed: array<u32>;
@group(0) @binding(3) var<storage, read_write> sizes: array<u32>;
@group(0) @binding(4) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(5) var<storage, read> total: array<u32>;
// struct Control as words, or any buffer where no steps request searches
@group(0) @binding(6) var<storage, read_write> status: array<u32>;
@group(0) @binding(7) var<storage, read_write> extent: array<u32, 6>;

fn writeSize(dispatch: u32, groups: u32) {
  let size = foldGroups(groups);
  sizes[3u * dispatch] = size.x;
  sizes[3u * dispatch + 1u] = size.y;
  sizes[3u * dispatch + 2u] = size.z;
}

@compute @workgroup_size(1)
fn planSearch() {
  let asked = select(SEARCH_NONE, status[plan.wantsSearch], status[plan.state] == RUNNING);
  let told = select(control.mode, asked, plan.hasStatus != 0u);
  // Without a complete old P there is nothing to take over.
  let mode = select(told, SEARCH_ALL, told == SEARCH_PART && control.isValid == 0u);
  control.mode = mode;
  let isOn = mode != SEARCH_NONE;
  // Boxes, counts and stored pairs are then those of the search that overflowed; only its pairs have to be written.
  let isResumed = mode == SEARCH_RESUME;
  let isAnew = isOn && !isResumed;
  control.overflow = select(control.overflow, 0u, isOn);
  control.isValid = select(control.isValid, 0u, isOn);
  control.isResumed = select(control.isResumed, select(0u, 1u, isResumed), isOn);
  let oldPairs = select(control.oldPairs, select(0u, control.pairCount, mode == SEARCH_PART), isOn);
  control.oldPairs = oldPairs;
  let entries = select(control.entries, addSaturating(markBlocks(oldPairs), control.queries), isAnew);
  control.entries = entries;
  for (var d = 0u; d < plan.all; d++) {
    writeSize(d, select(0u, fixed[d], isAnew && d < plan.early));
  }
  // A thread a slot, and a block of pairs of the old P.
  writeSize(plan.mark, select(0u, max(fixed[plan.mark], groupsFor(markBlocks(oldPairs), WORKGROUP_SIZE)), isAnew));
  let last = 2u * plan.levels - 2u;
  for (var level = 0u; level < plan.levels; level++) {
    let groups = select(0u, scanLevelGroups(entries, level), isAnew);
    writeSize(plan.scan + level, groups);
    writeSize(plan.scan + last - level, groups);
  }
  if (isAnew) {
    offsets[plan.chunks] = 0u;
    for (var side = 0u; side < 6u; side++) {
      extent[side] = EXTENT_NONE;
    }
  }
}

@compute @workgroup_size(1)
fn settleSearch() {
  let isOn = control.mode != SEARCH_NONE;
  let demand = select(control.demand, total[0], isOn && control.isResumed == 0u);
  control.demand = demand;
  // Exclusive sums: the entry after those of the old pairs is the first query's, and there is a query in every mesh.
  control.kept = select(control.kept, offsets[markBlocks(control.oldPairs)], isOn);
  let fits = demand <= min(control.capacity, control.budget);
  let isTaken = isOn && fits;
  control.overflow = select(control.overflow, 1u, isOn && !fits);
  for (var d = plan.early; d < plan.all; d++) {
    writeSize(d, select(0u, fixed[d], isTaken));
  }
  writeSize(plan.gather, select(0u, groupsFor(control.oldPairs, WORKGROUP_SIZE), isTaken));
  writeSize(plan.settle, select(0u, groupsFor(demand, WORKGROUP_SIZE), isTaken));
  control.pairCount = select(control.pairCount, demand, isTaken);
  control.isValid = select(control.isValid, 1u, isTaken);
  control.searches += select(0u, 1u, isTaken);
  if (isOn && plan.hasStatus != 0u) {
    // More than the capacity whenever P was not written, even where the budget was the limit.
    status[plan.pairDemand] = select(max(demand, addSaturating(control.capacity, 1u)), demand, fits);
  }
}
