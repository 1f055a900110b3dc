import {
  BufferAttribute,
  Color,
  DoubleSide,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  ShaderMaterial,
  Vector2,
} from 'three';

/** Lines of a fixed width in pixels at any depth: marks in the scene. */
export class Ribbons {
  readonly object: Mesh<InstancedBufferGeometry, ShaderMaterial>;

  /** @param isOnTop whether they are drawn over surfaces that hide them */
  constructor(colour: string, pixels: number, isOnTop: boolean) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(Float32Array.of(0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.instanceCount = 0;
    const material = new ShaderMaterial({
      side: DoubleSide,
      transparent: true,
      depthTest: !isOnTop,
      depthWrite: false,
      uniforms: { colour: { value: new Color(colour) }, pixels: { value: pixels }, size: { value: new Vector2(1, 1) } },
      vertexShader: /* glsl */ `
        uniform float pixels;
        uniform vec2 size;
        attribute vec3 from, to;
        void main() {
          vec4 a = projectionMatrix * modelViewMatrix * vec4(from, 1.0);
          vec4 b = projectionMatrix * modelViewMatrix * vec4(to, 1.0);
          vec4 point = mix(a, b, position.x);
          vec2 along = (b.xy / b.w - a.xy / a.w) * size;
          vec2 across = normalize(vec2(-along.y, along.x) + vec2(1e-9, 0.0));
          point.xy += position.y * pixels * across / size * point.w;
          // Before the surface on which it lies.
          point.z -= 2e-4 * point.w;
          gl_Position = point;
        }
      `,
      fragmentShader: /* glsl */ `
        uniform vec3 colour;
        void main() {
          gl_FragColor = vec4(colour, 1.0);
          #include <colorspace_fragment>
        }
      `,
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = isOnTop ? 3 : 2;
  }

  /** @param ends float32[6·N] the two ends of each line */
  set(ends: Float32Array): void {
    const count = ends.length / 6;
    const [from, to] = [new Float32Array(3 * count), new Float32Array(3 * count)];
    for (let i = 0; i < count; i++) {
      from.set(ends.subarray(6 * i, 6 * i + 3), 3 * i);
      to.set(ends.subarray(6 * i + 3, 6 * i + 6), 3 * i);
    }
    const { geometry } = this.object;
    // A buffer of another size needs a new buffer on the card.
    geometry.dispose();
    geometry.setAttribute('from', new InstancedBufferAttribute(from, 3));
    geometry.setAttribute('to', new InstancedBufferAttribute(to, 3));
    geometry.instanceCount = count;
    this.object.visible = count > 0;
  }

  setColour(colour: string): void {
    (this.object.material.uniforms.colour!.value as Color).set(colour);
  }

  setSize(width: number, height: number): void {
    (this.object.material.uniforms.size!.value as Vector2).set(width, height);
  }
}
