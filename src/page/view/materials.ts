import {
  DataTexture,
  DoubleSide,
  type IUniform,
  LinearFilter,
  RGBAFormat,
  ShaderMaterial,
  SRGBColorSpace,
  Vector3,
} from 'three';
import { mapBytes } from '../colours.js';

/** Colours along the map; the texture interpolates. */
const MAP_SIZE = 256;

/** Values that all materials of a view share, so that one assignment changes all of them. */
export type SharedUniforms = Readonly<
  Record<'map' | 'low' | 'high' | 'isMapped' | 'isReversed' | 'lines' | 'ink', IUniform>
>;

export function makeSharedUniforms(): SharedUniforms {
  const map = new DataTexture(mapBytes(MAP_SIZE), MAP_SIZE, 1, RGBAFormat);
  map.colorSpace = SRGBColorSpace;
  map.minFilter = LinearFilter;
  map.magFilter = LinearFilter;
  map.needsUpdate = true;
  return {
    map: { value: map },
    low: { value: 0 },
    high: { value: 1 },
    isMapped: { value: 0 },
    isReversed: { value: 0 },
    // Distance of the contour lines, as a value; 0 = none.
    lines: { value: 0 },
    ink: { value: new Vector3(0, 0, 0) },
  };
}

/**
 * The colour of a point of a body: that of its part, or that of its value. NaN is passed as a share beside the value,
 * because graphics hardware may treat a NaN in any way: `known` is 1 where all corners have a value.
 */
const PAINT = /* glsl */ `
  uniform sampler2D map;
  uniform float low, high, isMapped, isReversed, lines;
  vec3 paint(vec3 own, float value, float known) {
    if (isMapped < 0.5) return own;
    // Without a value: the colour of the part, faded to a grey of the same lightness.
    vec3 plain = mix(vec3(dot(own, vec3(0.2126, 0.7152, 0.0722))), own, 0.15) * 0.55 + 0.16;
    if (known < 0.999) return plain;
    float share = clamp((value - low) / max(high - low, 1e-30), 0.0, 1.0);
    vec3 colour = texture2D(map, vec2((mix(share, 1.0 - share, isReversed) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    if (lines > 0.0) {
      float place = value / lines;
      float width = fwidth(place);
      float apart = abs(fract(place - 0.5) - 0.5) / max(width, 1e-6);
      colour *= mix(1.0, 0.62 + 0.38 * smoothstep(0.5, 1.5, apart), 1.0 - smoothstep(0.2, 0.5, width));
    }
    return colour;
  }
`;

/** Light from the camera's upper left, a weaker one from the right, and the sky; in eye coordinates. */
const LIGHT = /* glsl */ `
  vec3 light(vec3 colour, vec3 normal) {
    float key = max(dot(normal, normalize(vec3(-0.45, 0.75, 0.6))), 0.0);
    float fill = max(dot(normal, normalize(vec3(0.8, 0.1, 0.5))), 0.0);
    float sky = 0.5 + 0.5 * normal.y;
    return colour * (0.33 + 0.16 * sky + 0.62 * key + 0.16 * fill);
  }
`;

const common = { side: DoubleSide } as const;

/** Triangles with smooth normals; the back is darker than the front, so that a flipped panel is visible. */
export function makeSurfaceMaterial(shared: SharedUniforms): ShaderMaterial {
  return new ShaderMaterial({
    ...common,
    uniforms: { ...shared },
    vertexShader: /* glsl */ `
      attribute vec3 own;
      attribute vec2 value;
      varying vec3 vOwn, vNormal;
      varying vec2 vValue;
      void main() {
        vOwn = own;
        vValue = value;
        vNormal = normalMatrix * normal;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }
    `,
    fragmentShader: /* glsl */ `
      ${PAINT}
      ${LIGHT}
      varying vec3 vOwn, vNormal;
      varying vec2 vValue;
      void main() {
        vec3 normal = normalize(vNormal) * (gl_FrontFacing ? 1.0 : -1.0);
        vec3 colour = paint(vOwn, vValue.x, vValue.y) * (gl_FrontFacing ? 1.0 : 0.78);
        gl_FragColor = vec4(light(colour, normal), 1.0);
        #include <colorspace_fragment>
      }
    `,
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
}

/** Segments as round rods: each instance is a ribbon that faces the eye, shaded as a cylinder. */
export function makeRodMaterial(shared: SharedUniforms, radius: number): ShaderMaterial {
  return new ShaderMaterial({
    ...common,
    uniforms: { ...shared, radius: { value: radius } },
    vertexShader: /* glsl */ `
      uniform float radius;
      attribute vec3 from, to, own;
      attribute vec2 valueFrom, valueTo;
      varying vec3 vOwn, vSide;
      varying vec2 vValue;
      varying float vAcross;
      void main() {
        vec4 a = modelViewMatrix * vec4(from, 1.0);
        vec4 b = modelViewMatrix * vec4(to, 1.0);
        vec4 point = mix(a, b, position.x);
        vec3 along = b.xyz - a.xyz;
        vec3 side = normalize(cross(along, -point.xyz) + vec3(1e-20, 0.0, 0.0));
        point.xyz += radius * position.y * side;
        vOwn = own;
        vSide = side;
        vAcross = position.y;
        vValue = mix(valueFrom, valueTo, position.x);
        gl_Position = projectionMatrix * point;
      }
    `,
    fragmentShader: /* glsl */ `
      ${PAINT}
      ${LIGHT}
      varying vec3 vOwn, vSide;
      varying vec2 vValue;
      varying float vAcross;
      void main() {
        vec3 normal = normalize(vSide * vAcross + vec3(0.0, 0.0, sqrt(max(0.0, 1.0 - vAcross * vAcross))));
        gl_FragColor = vec4(light(paint(vOwn, vValue.x, vValue.y), normal), 1.0);
        #include <colorspace_fragment>
      }
    `,
  });
}

/** Particles as balls. */
export function makeGrainMaterial(shared: SharedUniforms, radius: number): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: { ...shared, radius: { value: radius }, viewHeight: { value: 600 } },
    vertexShader: /* glsl */ `
      uniform float radius, viewHeight;
      attribute vec3 own;
      attribute vec2 value;
      varying vec3 vOwn;
      varying vec2 vValue;
      void main() {
        vOwn = own;
        vValue = value;
        vec4 eye = modelViewMatrix * vec4(position, 1.0);
        gl_Position = projectionMatrix * eye;
        gl_PointSize = max(2.0, radius * viewHeight * projectionMatrix[1][1] / gl_Position.w);
      }
    `,
    fragmentShader: /* glsl */ `
      ${PAINT}
      ${LIGHT}
      varying vec3 vOwn;
      varying vec2 vValue;
      void main() {
        vec2 at = 2.0 * gl_PointCoord - 1.0;
        float rest = 1.0 - dot(at, at);
        if (rest < 0.0) discard;
        gl_FragColor = vec4(light(paint(vOwn, vValue.x, vValue.y), vec3(at.x, -at.y, sqrt(rest))), 1.0);
        #include <colorspace_fragment>
      }
    `,
  });
}
