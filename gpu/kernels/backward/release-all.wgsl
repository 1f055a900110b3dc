// What follows when a contact has run in a pass that seeks rounds (backward/rounds.wgsl), all four slots at once: on a graphics
// card their reads and counts are then under way together.

fn followersOf(c: u32) -> vec4u {
  return vec4u(followerOf(c, 0u), followerOf(c, 1u), followerOf(c, 2u), followerOf(c, 3u));
}

fn followerOf(c: u32, slot: u32) -> u32 {
  return atomicLoad(&contacts[followerAt(c, slot)]);
}

// What waitsAt says of a contact that waits for one contact less; 0 = there is none.
fn countRun(c: u32) -> u32 {
  var state = 0u;
  if (c != NO_FOLLOWER) {
    state = atomicAdd(&contacts[waitsAt(c)], 1u) + 1u;
  }
  return state;
}

// Each of these waits for one contact less; the last one that it waits for queues it.
fn releaseAll(followers: vec4u, next: NextRound) {
  let states = vec4u(countRun(followers.x), countRun(followers.y), countRun(followers.z), countRun(followers.w));
  let isReady = (states != vec4u(0u)) & ((states & vec4u(0xffffu)) == (states >> vec4u(WAITS_SHIFT)));
  let ready = select(vec4u(0u), vec4u(1u), isReady);
  let count = ready.x + ready.y + ready.z + ready.w;
  if (count > 0u) {
    var place = next.begin + atomicAdd(&contacts[countAt(next.round)], count);
    for (var s = 0u; s < 4u; s++) {
      if (isReady[s]) {
        atomicStore(&contacts[queueAt(place)], followers[s]);
        place++;
      }
    }
  }
}
