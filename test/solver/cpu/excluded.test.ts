import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { seeded } from '../../support/random.js';
import { judgeTangle } from '../../support/tangle.js';

const random = seeded();

t.test(`whatever is excluded, everything else stays apart on the whole path (seed ${random.seed})`, async (t) => {
  for (let round = 0; round < 3; round++) {
    const { excluded, intersections, collisions } = await judgeTangle(createCpuEngine(), random);
    t.ok(excluded[0]! > 4, `round ${round}: ${excluded} pairs excluded`);
    t.equal(intersections, 0, 'no other pair intersects in any state');
    t.equal(collisions, 0, 'nor meets on any piece');
  }
});
