import {
  Color,
  DirectionalLight,
  FloatType,
  type Group,
  HemisphereLight,
  InstancedMesh,
  Mesh,
  PCFShadowMap,
  PlaneGeometry,
  Scene,
  ShadowMaterial,
  Vector3,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { EffectComposer } from 'three/examples/jsm/postprocessing/EffectComposer.js';
import { OutputPass } from 'three/examples/jsm/postprocessing/OutputPass.js';
import { SSAARenderPass } from 'three/examples/jsm/postprocessing/SSAARenderPass.js';
import type { Camera } from './camera.js';

const BACKGROUND = '#f1f3f6';
/**
 * A panel is the average of 2^level samples, each a fraction of a pixel away from the others and under a light of its
 * own. Software draws about a million triangles a second: of large meshes there are fewer samples.
 */
const MOST_SAMPLES = 5;
const LEAST_SAMPLES = 3;
const TRIANGLES = 1e6;
/** Of the sun, of the whole sky, and of what comes from everywhere without a shadow. */
const SUN = 2.1;
const SKY = 1.3;
const AMBIENT = 1.7;
/** Tangent of the angle that the sun is wide, seen from its middle: as wide as its shadows are soft. */
const SUN_RADIUS = 0.12;
/** Sizes in radii of what is shown: half of the region that shadows are computed in, and the ground. */
const SHADED = 1.7;
const GROUND = 60;
/** Radii of what is shown: the ground lies so far below the lowest vertex, so that it is below any ground of the scene itself. */
const GROUND_GAP = 1e-3;
const SHADOW_TEXELS = 1024;
/** Depths of the shadow camera, from 0 to 1: beyond the rounding of a depth of 16 bits, less than a texel of SHADOW_TEXELS. */
const SHADOW_BIAS = -1e-4;
const SHADOW_BLUR = 24;
/** Golden angle: directions spread evenly without a pattern. */
const TURN = Math.PI * (3 - Math.sqrt(5));

/** Draws panels of one size, one after another. */
export class Renderer {
  readonly #renderer: WebGLRenderer;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.#renderer = new WebGLRenderer();
    this.#renderer.setSize(width, height, false);
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = PCFShadowMap;
  }

  /** @param ground height of what shadows fall on, m */
  draw(group: Group, camera: Camera, ground: number): HTMLCanvasElement {
    const scene = new Scene();
    scene.background = new Color(BACKGROUND);
    const light = makeLight(camera);
    const plane = makeGround(camera, ground);
    scene.add(group, plane, light, light.target, new HemisphereLight(0xffffff, 0xb8bcc4, AMBIENT));
    const level = Math.floor(Math.log2(TRIANGLES / (1 + trianglesOf(group))));
    const sampleLevel = Math.min(MOST_SAMPLES, Math.max(LEAST_SAMPLES, level));
    const samples = 2 ** sampleLevel;
    // What few shadows do not blend, each blurs.
    light.shadow.radius = SHADOW_BLUR / Math.sqrt(samples);
    let sample = 0;
    scene.onBeforeRender = () => shine(light, camera, sample++, samples);

    const target = new WebGLRenderTarget(this.width, this.height, { type: FloatType });
    const composer = new EffectComposer(this.#renderer, target);
    const pass = new SSAARenderPass(scene, camera.eye);
    pass.sampleLevel = sampleLevel;
    const output = new OutputPass();
    composer.addPass(pass);
    composer.addPass(output);
    composer.render();
    const canvas = document.createElement('canvas');
    canvas.width = this.width;
    canvas.height = this.height;
    canvas.getContext('2d')!.drawImage(this.#renderer.domElement, 0, 0);
    for (const each of [pass, output, composer, light, plane.geometry, plane.material]) each.dispose();
    return canvas;
  }

  dispose(): void {
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }
}

function trianglesOf(group: Group): number {
  let count = 0;
  group.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    const each = (object.geometry.index ?? object.geometry.getAttribute('position')).count / 3;
    count += object instanceof InstancedMesh ? each * object.count : each;
  });
  return count;
}

function makeLight({ centre, radius }: Camera): DirectionalLight {
  const light = new DirectionalLight();
  light.castShadow = true;
  light.target.position.copy(centre);
  light.shadow.mapSize.set(SHADOW_TEXELS, SHADOW_TEXELS);
  const half = SHADED * radius;
  Object.assign(light.shadow.camera, { left: -half, right: half, bottom: -half, top: half, near: 0, far: 6 * half });
  // A surface must not lie in the shadow of its own texels.
  light.shadow.normalBias = (2 * half) / SHADOW_TEXELS;
  light.shadow.bias = SHADOW_BIAS;
  return light;
}

function makeGround({ centre, radius }: Camera, height: number): Mesh<PlaneGeometry, ShadowMaterial> {
  const side = GROUND * radius;
  const plane = new Mesh(new PlaneGeometry(side, side), new ShadowMaterial({ opacity: 0.45 }));
  plane.position.set(centre.x, centre.y, height - GROUND_GAP * radius);
  plane.receiveShadow = true;
  return plane;
}

/** Turns the light for a sample: by turns to a place on the sun and to one in the sky, all of them evenly spread. */
function shine(light: DirectionalLight, { eye, centre, radius }: Camera, sample: number, samples: number): void {
  const share = ((sample >> 1) + 0.5) / (samples / 2);
  const angle = (sample >> 1) * TURN;
  const direction = new Vector3();
  if (sample % 2 === 0) {
    const away = SUN_RADIUS * Math.sqrt(share);
    // From the left, above and before, as the eye sees it.
    direction
      .set(-0.45 + away * Math.cos(angle), 0.45 + away * Math.sin(angle), 0.6)
      .transformDirection(eye.matrixWorld);
    direction.z += 0.5;
    light.intensity = 2 * SUN;
  } else {
    // As much as a surface that faces upwards receives from each height.
    const height = Math.sqrt(1 - share);
    const across = Math.sqrt(1 - height * height);
    direction.set(across * Math.cos(angle), across * Math.sin(angle), height);
    light.intensity = 2 * SKY;
  }
  light.position.copy(centre).addScaledVector(direction.normalize(), 3 * SHADED * radius);
  light.updateMatrixWorld();
}
