import {
  BufferAttribute,
  BufferGeometry,
  CatmullRomCurve3,
  Color,
  DoubleSide,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  type Material,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  SRGBColorSpace,
  TubeGeometry,
  Vector3,
  WireframeGeometry,
} from 'three';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import type { Colour } from '../../../src/page/colours.js';
import type { Body } from '../sheet.js';
import type { Camera } from './camera.js';

/** m: radii with which rods and grains are drawn, wide enough to be seen; strands that lie closer than that overlap in the picture */
const ROD_RADIUS = 0.0012;
const GRAIN_RADIUS = 0.0026;
/** Pixels: edges of triangles are drawn where the median one has a length between these: shorter ones would darken the surface, longer ones say nothing. */
const EDGES_FROM = 7;
const EDGES_TO = 30;
/** By how much the lightness of rods and grains differs, so that one is told from the next. */
const VARIATION = 0.12;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

export interface Drawn {
  readonly group: Group;
  /** Frees what the graphics library keeps. */
  dispose(): void;
}

/** @param state float32[3·V] of all bodies */
export function makeBodies(bodies: readonly Body[], state: Float32Array, camera: Camera): Drawn {
  const group = new Group();
  for (const body of bodies) {
    const { firstVertex, vertexCount, triangles, segments, particles, colour } = body;
    const positions = state.slice(3 * firstVertex, 3 * (firstVertex + vertexCount));
    if (triangles.length > 0) group.add(...makeSurface(positions, triangles, colour, camera));
    if (segments.length > 0) group.add(makeRods(positions, segments, colour, camera));
    if (particles.length > 0) group.add(makeGrains(positions, particles, colour, camera));
  }
  group.traverse((object) => {
    object.frustumCulled = false;
    if (object instanceof Mesh) object.castShadow = object.receiveShadow = true;
  });
  const dispose = (): void =>
    group.traverse((object) => {
      if (!(object instanceof Mesh || object instanceof LineSegments)) return;
      object.geometry.dispose();
      (object.material as Material).dispose();
      if (object instanceof InstancedMesh) object.dispose();
    });
  return { group, dispose };
}

function makeSurface(positions: Float32Array, triangles: Uint32Array, colour: Colour, camera: Camera) {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(positions, 3));
  geometry.setIndex(new BufferAttribute(triangles, 1));
  geometry.computeVertexNormals();
  const material = new MeshStandardMaterial({
    color: colourOf(colour),
    roughness: 0.75,
    side: DoubleSide,
    shadowSide: DoubleSide,
  });
  const surface = new Mesh(geometry, material);
  const length = camera.scale * medianEdge(positions, triangles);
  return length < EDGES_FROM || length > EDGES_TO ? [surface] : [surface, makeEdges(geometry, camera)];
}

/** By how much edges are nearer to the eye than their surface, so that they are seen; they stay where they are in the picture. */
const NEARER = 2e-4;

function makeEdges(geometry: BufferGeometry, { eye }: Camera): LineSegments {
  const material = new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.12, depthWrite: false });
  const edges = new LineSegments(new WireframeGeometry(geometry), material);
  edges.scale.setScalar(1 - NEARER);
  edges.position.copy(eye.position).multiplyScalar(NEARER);
  return edges;
}

/** Edges that are looked at for the median. */
const SAMPLE = 999;

function medianEdge(positions: Float32Array, triangles: Uint32Array): number {
  const stride = 3 * Math.ceil(triangles.length / 3 / SAMPLE);
  const [a, b] = [new Vector3(), new Vector3()];
  const lengths: number[] = [];
  for (let i = 0; i < triangles.length; i += stride) {
    a.fromArray(positions, 3 * triangles[i]!);
    b.fromArray(positions, 3 * triangles[i + 1]!);
    lengths.push(a.distanceTo(b));
  }
  return lengths.sort((p, q) => p - q)[lengths.length >> 1]!;
}

const colourOf = ([r, g, b]: Colour): Color => new Color().setRGB(r, g, b, SRGBColorSpace);

/** A colour whose lightness is not quite that of its neighbours. */
const variant = (colour: Colour, index: number): Color =>
  colourOf(colour).offsetHSL(0, 0, VARIATION * (2 * ((index * GOLDEN) % 1) - 1));

/** Tubes along segments that follow each other in the list. */
function makeRods(positions: Float32Array, segments: Uint32Array, colour: Colour, camera: Camera): Mesh {
  const sides = ROD_RADIUS * camera.scale < 2 ? 5 : 10;
  const tubes = chainsOf(segments).map((chain, strand) => {
    const points = chain.map((id) => new Vector3().fromArray(positions, 3 * id));
    const isClosed = chain.length > 3 && chain[0] === chain.at(-1);
    const curve = new CatmullRomCurve3(isClosed ? points.slice(0, -1) : points, isClosed);
    const tube = new TubeGeometry(curve, chain.length - 1, ROD_RADIUS, sides, isClosed);
    const tint = variant(colour, strand);
    const colours = new Float32Array(tube.getAttribute('position').count * 3);
    for (let i = 0; i < colours.length; i += 3) tint.toArray(colours, i);
    return tube.setAttribute('color', new BufferAttribute(colours, 3));
  });
  const geometry = mergeGeometries(tubes);
  for (const tube of tubes) tube.dispose();
  return new Mesh(geometry, new MeshStandardMaterial({ vertexColors: true, roughness: 0.5, side: DoubleSide }));
}

/** Ids of vertices along polylines. */
function chainsOf(segments: Uint32Array): number[][] {
  const chains: number[][] = [];
  for (let i = 0; i < segments.length; i += 2) {
    const last = chains.at(-1);
    if (last?.at(-1) === segments[i]) last.push(segments[i + 1]!);
    else chains.push([segments[i]!, segments[i + 1]!]);
  }
  return chains;
}

function makeGrains(positions: Float32Array, particles: Uint32Array, colour: Colour, camera: Camera): InstancedMesh {
  const detail = GRAIN_RADIUS * camera.scale < 3 ? 1 : 3;
  const ball = new IcosahedronGeometry(GRAIN_RADIUS, detail);
  // A ball is smooth: its normals point away from its centre.
  const { position, normal } = ball.attributes;
  for (let i = 0; i < position!.count; i++) {
    const away = new Vector3().fromBufferAttribute(position!, i).normalize();
    normal!.setXYZ(i, away.x, away.y, away.z);
  }
  const grains = new InstancedMesh(ball, new MeshStandardMaterial({ roughness: 0.9 }), particles.length);
  particles.forEach((id, i) => {
    const [x, y, z] = positions.subarray(3 * id, 3 * id + 3);
    grains.setMatrixAt(i, new Matrix4().makeTranslation(x!, y!, z!));
    grains.setColorAt(i, variant(colour, i));
  });
  return grains;
}
