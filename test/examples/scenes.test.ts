import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { exampleFiles } from '../../examples/files.js';
import { EXAMPLES, SCENES } from '../../examples/scenes/index.js';
import type { Scene } from '../../examples/scenes/types.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { projectRoot } from '../../src/paths.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';

const RULES = { kinematicPairs: 'SKIP', maxPairs: 3 } as const;

const meshOf = (scene: Scene): CollisionMesh =>
  buildMesh({
    vertexCount: scene.vertexCount,
    triangles: scene.triangles,
    segments: scene.segments,
    particles: scene.particles,
    tetrahedra: scene.tetrahedra,
    kinematic: Uint8Array.from({ length: scene.vertexCount }, (_, i) => (i < scene.kinematicFrom ? 0 : 1)),
  });

for (const [name, make] of Object.entries(SCENES)) {
  t.test(`scene ${name}`, async (t) => {
    const scene = make();
    const mesh = meshOf(scene);
    t.same(mesh.warnings, [], 'every vertex is used');
    t.ok(
      scene.vertexCount >= 900 && scene.vertexCount <= 4000,
      `${scene.vertexCount} vertices are small enough to commit`,
    );
    const start = findIntersections(mesh, scene.start, RULES);
    t.same(start.intersections, [], 'the start is free');
    t.equal(start.kinematicIntersectionCount, 0, 'also among kinematic elements');
    const path = testPath(mesh, scene.start, scene.target, RULES);
    t.equal(path.pathFree, false, 'the straight path collides');
    t.ok(path.collisionCount > 10, `in ${path.collisionCount} pairs, not by a hair`);
  });

  t.test(`scene ${name} at another size`, async (t) => {
    const scene = make(8000);
    t.ok(Math.abs(scene.vertexCount / 8000 - 1) < 0.35, `asked for 8000 vertices, got ${scene.vertexCount}`);
    t.same(findIntersections(meshOf(scene), scene.start, RULES).intersections, [], 'the start is free');
    t.ok(scene.kinematicFrom > 0 && scene.kinematicFrom <= scene.vertexCount);
  });

  t.test(`scene ${name} is the same every time`, async (t) => {
    t.same(make(), make());
  });
}

t.test('kinematic bodies follow the dynamic ones', async (t) => {
  for (const make of Object.values(SCENES)) {
    const scene = make();
    for (const body of scene.bodies) {
      const isObstacle = body.firstVertex >= scene.kinematicFrom;
      t.equal(isObstacle, body.role === 'obstacle', `${scene.name}: ${body.name}`);
    }
  }
});

t.test('the committed files are what the generator writes', async (t) => {
  const files = exampleFiles();
  t.equal(files.size, 8 + 3 * Object.keys(EXAMPLES).length);
  for (const [path, contents] of files) {
    const onDisk = readFileSync(join(projectRoot, 'examples', path), 'utf8');
    // Not t.equal: a difference would print both files.
    t.ok(onDisk === contents, `examples/${path} (\`npm run examples\` writes it again)`);
  }
});
