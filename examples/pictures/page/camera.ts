import { Box3, BufferAttribute, Matrix4, PerspectiveCamera, Vector3 } from 'three';
import type { Vec } from '../sheet.js';

/** Half the angle of view across the picture: little distortion, but some depth. */
const HALF_VIEW = (11 * Math.PI) / 180;
/** Share of the picture that stays empty around what it must show. */
const MARGIN = 0.08;
/** m: half the width of the picture at least, so that a single point can be looked at. */
const LEAST_HALF = 1e-9;
const UP = new Vector3(0, 0, 1);

/** Shows some points completely from a direction. */
export class Camera {
  readonly eye: PerspectiveCamera;
  /** of what is shown, m */
  readonly centre: Vector3;
  readonly radius: number;
  /** pixels of a metre in the middle */
  readonly scale: number;

  /** @param framed float32[3·n], m */
  constructor(framed: Float32Array, view: Vec, width: number, height: number) {
    const turn = new Matrix4().lookAt(new Vector3(), new Vector3(...view), UP);
    const turned = new BufferAttribute(framed.slice(), 3).applyMatrix4(turn.clone().invert());
    const box = new Box3().setFromBufferAttribute(turned);
    const size = box.getSize(new Vector3());
    const half = Math.max(size.x / 2, ((size.y / 2) * width) / height, LEAST_HALF) / (1 - MARGIN);
    // As far as the nearest side of the box needs.
    const distance = half / Math.tan(HALF_VIEW) + size.z / 2;
    this.centre = box.getCenter(new Vector3()).applyMatrix4(turn);
    this.radius = size.length() / 2;
    this.scale = width / (2 * Math.tan(HALF_VIEW) * distance);
    const upright = 2 * Math.atan((Math.tan(HALF_VIEW) * height) / width);
    this.eye = new PerspectiveCamera((upright * 180) / Math.PI, width / height, distance / 20, 20 * distance);
    this.eye.up.copy(UP);
    this.eye.position
      .copy(this.centre)
      .add(new Vector3(0, 0, distance).transformDirection(turn).multiplyScalar(distance));
    this.eye.lookAt(this.centre);
    this.eye.updateMatrixWorld();
  }
}
