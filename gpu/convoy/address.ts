import { STRUCTS } from '../kernels/structs.js';
import { ALONE_BINDINGS } from '../kernels/table.js';
import type { Binding } from '../shaders.js';

/*
 * Kernels are written for one scene. Here they become kernels of a convoy: every buffer contains the data of many
 * scenes, one after the other, and a dispatch has one layer of workgroups per scene. The result of a scene does not
 * depend on the others: its kernels run with the number of workgroups, the ids and the buffers that they would have
 * alone.
 */

/** Largest number of scenes of one dispatch, because their places lie in one uniform binding. */
export const MOST_SCENES = 64;

/** Most storage buffers that a kernel of a convoy binds: its own, structs that are uniforms elsewhere, and sizes. */
export const MOST_SHARED_BUFFERS = 12;

/** Bytes of a uniform binding that every adapter allows. */
export const UNIFORM_BYTES = 65_536;

/** Bytes: a struct of which a scene has one begins at a multiple of this, or of more if the struct is larger. */
export const SLOT_BYTES = 256;

/** Binding indices above those of every kernel. */
const PLACES_BINDING = 30;
const SIZES_BINDING = 31;

/** A binding of a kernel of a convoy. */
export interface SharedBinding extends Binding {
  /** bytes of an element: the part of a scene begins at a multiple of them */
  readonly stride: number;
}

export interface SharedKernel {
  readonly code: string;
  /** in the order of the words of a scene's place: those of the kernel for one scene, by the same names */
  readonly bindings: readonly SharedBinding[];
  /** binding index of the uniform with the places, and of the buffer with the sizes of dispatches */
  readonly places: number;
  readonly sizes: number;
  /** the type as which that buffer, and those of structs that are uniforms for one scene, are bound */
  readonly uniforms: 'uniform' | 'read-only-storage';
  /** bytes of one scene's place */
  readonly placeBytes: number;
}

interface Declared extends SharedBinding {
  readonly isArray: boolean;
  /** of an element, or of the struct */
  readonly declaration: string;
  /** in kernels for one scene; every thread of a kernel of a convoy reads such a struct once */
  readonly isUniform: boolean;
}

interface Addressed extends Declared {
  /** index of its first element of the scene, in a ScenePlace */
  readonly base: string;
}

interface Func {
  readonly name: string;
  /** `@compute @workgroup_size(…)` of an entry point; otherwise empty */
  readonly attributes: string;
  readonly parameters: string;
  readonly result: string;
  readonly body: string;
}

const BINDING =
  /@group\(0\)\s*@binding\((\d+)\)\s*var<\s*(uniform|storage)\s*(?:,\s*(read_write|read)\s*)?>\s*(\w+)\s*:\s*([^;]+);/g;
const FUNCTION = /((?:@compute\s+)?(?:@workgroup_size\([^)]*\)\s*)?)\bfn\s+(\w+)\s*\(/g;
const NAME = /(?<![\w.])[A-Za-z_]\w*/g;

/**
 * The kernel of a convoy for the text of a kernel.
 *
 * @throws Error if the text uses a buffer in an unknown way
 */
export function addressByScene(text: string): SharedKernel {
  const source = text.replace(/\/\/.*/g, '');
  const all = [...source.matchAll(BINDING)].map((match) => declare(match, source));
  // Uniforms become storage buffers, and the sizes are one more, unless a kernel would then bind more than devices allow.
  const uniformsAs = all.length + 1 > ALONE_BINDINGS ? 'uniform' : 'read-only-storage';
  const declared = all.map((one): Declared => (one.isUniform ? { ...one, type: uniformsAs } : one));
  const { functions, rest } = splitFunctions(source.replace(BINDING, ''));
  const reader = new Rewriter(declared, functions);
  const vectors = Math.ceil(declared.length / 4);
  const uniforms = declared.filter(({ isUniform }) => isUniform);
  const slots = new Set(declared.flatMap(({ isArray, declaration }) => (isArray ? [] : [slotOf(declaration)])));
  const barrier = /var<workgroup>/.test(source) ? '    workgroupBarrier();\n' : '';
  const code = [
    rest.trim(),
    ...slots,
    `struct ScenePlace { size: vec4u, ${Array.from({ length: vectors }, (_, n) => `at${n}: vec4u`).join(', ')} }`,
    `struct SceneData { place: ScenePlace, ${uniforms.map(({ name, declaration }) => `${name}: ${declaration}`).join(', ')} }`,
    `@group(0) @binding(${PLACES_BINDING}) var<uniform> scenePlaces: array<ScenePlace, ${MOST_SCENES}>;`,
    `@group(0) @binding(${SIZES_BINDING}) ${
      uniformsAs === 'uniform'
        ? `var<uniform> sceneSizes: array<vec4u, ${UNIFORM_BYTES / 16}>`
        : 'var<storage, read> sceneSizes: array<u32>'
    };`,
    ...declared.map(({ index, type, name, isArray, declaration, stride }) => {
      const access = type === 'storage' ? 'read_write' : 'read';
      const element = isArray ? declaration : slotNameOf(declaration);
      if (type === 'uniform') {
        return `@group(0) @binding(${index}) var<uniform> ${name}: array<${element}, ${UNIFORM_BYTES / stride}>;`;
      }
      return `@group(0) @binding(${index}) var<storage, ${access}> ${name}: array<${element}>;`;
    }),
    sizeOfScene(
      uniformsAs === 'uniform'
        ? (word) => `sceneSizes[(${word}) / 4u][(${word}) % 4u]`
        : (word) => `sceneSizes[${word}]`,
    ),
    ...functions.map((func) => (func.attributes === '' ? reader.rewrite(func) : reader.rewriteEntry(func, barrier))),
  ].join('\n');
  return {
    code,
    bindings: declared,
    places: PLACES_BINDING,
    sizes: SIZES_BINDING,
    uniforms: uniformsAs,
    placeBytes: 16 * (1 + vectors),
  };
}

const sizeOfScene = (read: (word: string) => string): string => `fn sizeOfScene(size: vec4u) -> vec2u {
  if (size.w == 0u) {
    return size.xy;
  }
  return vec2u(${read('size.z')}, ${read('size.z + 1u')});
}`;

function declare([, index, space, access, name, type]: RegExpMatchArray, source: string): Declared {
  const element = /^array<\s*(atomic<\w+>|\w+)\s*(?:,\s*\w+\s*)?>$/.exec(type!.trim());
  const declaration = element ? element[1]! : type!.trim();
  const bytes = bytesOf(declaration, source);
  return {
    index: Number(index),
    name: name!,
    type: space === 'storage' && access === 'read_write' ? 'storage' : 'read-only-storage',
    stride: element ? bytes : Math.ceil(bytes / SLOT_BYTES) * SLOT_BYTES,
    isArray: element !== null,
    declaration,
    isUniform: space === 'uniform',
  };
}

const VECTORS: Readonly<Record<string, number>> = {
  u32: 4,
  i32: 4,
  f32: 4,
  vec2u: 8,
  vec2f: 8,
  vec4u: 16,
  vec4i: 16,
  vec4f: 16,
};

function bytesOf(type: string, source: string): number {
  const own = VECTORS[type.replace(/^atomic<(\w+)>$/, '$1')] ?? STRUCTS.get(type.replace(/View$/, ''))?.bytes;
  if (own !== undefined) return own;
  // A struct of the kernel itself: it consists of vectors of four.
  const fields =
    new RegExp(`struct\\s+${type}\\s*\\{([^}]*)\\}`).exec(source)?.[1]?.match(/\bvec4[uif]\b|:\s*\w+/g) ?? [];
  const vectors = fields.filter((field) => /vec4/.test(field));
  if (fields.length === 0 || vectors.length !== fields.length)
    throw new Error(`A kernel binds ${type}, whose size is not known.`);
  return 16 * vectors.length;
}

const slotNameOf = (struct: string): string => `${struct}OfScene`;

function slotOf(struct: string): string {
  const bytes = STRUCTS.get(struct.replace(/View$/, ''))?.bytes ?? 0;
  return `struct ${slotNameOf(struct)} { @size(${Math.ceil(bytes / SLOT_BYTES) * SLOT_BYTES}) own: ${struct} }`;
}

/** The functions of a text, and the text without them. */
function splitFunctions(source: string): { readonly functions: readonly Func[]; readonly rest: string } {
  const functions: Func[] = [];
  let rest = '';
  let at = 0;
  for (const match of source.matchAll(FUNCTION)) {
    if (match.index < at) throw new Error('A function lies in another one.');
    const open = match.index + match[0].length - 1;
    const close = endOf(source, open, '(', ')');
    const begin = source.indexOf('{', close);
    const end = endOf(source, begin, '{', '}');
    functions.push({
      name: match[2]!,
      attributes: match[1]!.trim(),
      parameters: source
        .slice(open + 1, close)
        .trim()
        .replace(/,$/, ''),
      result: source.slice(close + 1, begin).trim(),
      body: source.slice(begin, end + 1),
    });
    rest += source.slice(at, match.index);
    at = end + 1;
  }
  return { functions, rest: rest + source.slice(at) };
}

/** Where the bracket that opens here is closed. */
function endOf(text: string, open: number, opening: string, closing: string): number {
  let depth = 0;
  for (let k = open; k < text.length; k++) {
    if (text[k] === opening) depth++;
    else if (text[k] === closing && --depth === 0) return k;
  }
  throw new Error(`A bracket ${opening} is not closed.`);
}

/** Rewrites functions so that they find the buffers of a scene, whose SceneData they get as their first parameter. */
class Rewriter {
  readonly #bindings: ReadonlyMap<string, Addressed>;
  /** what a thread reads first */
  readonly #data: string;
  /** functions that use a buffer, or call one that does */
  readonly #needing = new Set<string>();

  constructor(declared: readonly Declared[], functions: readonly Func[]) {
    this.#bindings = new Map(
      declared.map((one, n) => [one.name, { ...one, base: `place.at${Math.floor(n / 4)}.${'xyzw'[n % 4]}` }]),
    );
    const uniforms = [...this.#bindings.values()].filter(({ isUniform }) => isUniform);
    this.#data = `SceneData(${['place', ...uniforms.map(({ name, base }) => `${name}[${base}].own`)].join(', ')})`;
    for (const { name, parameters, body } of functions) {
      for (const [, own] of `${parameters} ${body}`.matchAll(
        /(?:\b(?:let|var|const)\s+|\b)(\w+)\s*(?::(?!:)|=(?!=))/g,
      )) {
        if (
          this.#bindings.has(own!) &&
          new RegExp(`\\b(?:let|var)\\s+${own}\\b|(?:^|,)\\s*${own}\\s*:`).test(`${parameters},${body}`)
        ) {
          throw new Error(`The function ${name} calls a variable as a buffer is called: ${own}.`);
        }
      }
    }
    for (let isGrowing = true; isGrowing; ) {
      isGrowing = false;
      for (const { name, body } of functions) {
        const names = [...body.matchAll(NAME)].map(([word]) => word);
        if (this.#needing.has(name) || !names.some((word) => this.#bindings.has(word) || this.#needing.has(word)))
          continue;
        this.#needing.add(name);
        isGrowing = true;
      }
    }
  }

  rewrite({ name, parameters, result, body }: Func): string {
    const own = this.#needing.has(name) ? ['scene: SceneData', parameters] : [parameters];
    return `fn ${name}(${own.filter((part) => part !== '').join(', ')}) ${result} ${this.#rewriteText(body)}`;
  }

  /** An entry point: its workgroups run those that each scene's own dispatch would have, one after the other. */
  rewriteEntry({ name, attributes, parameters, body }: Func, barrier: string): string {
    const own = ['scene: SceneData'];
    const given = ['scene'];
    for (const [, builtin, parameter, type] of parameters.matchAll(/@builtin\((\w+)\)\s*(\w+)\s*:\s*(\w+)/g)) {
      own.push(`${parameter}: ${type}`);
      given.push(BUILTINS[builtin!] ?? refuse(builtin!));
    }
    return `fn ${name}OfScene(${own.join(', ')}) ${this.#rewriteText(body)}
${attributes}
fn ${name}(
  @builtin(workgroup_id) workgroupOfAll: vec3u,
  @builtin(num_workgroups) workgroupsOfAll: vec3u,
  @builtin(local_invocation_index) threadOfGroup: u32,
) {
  let place = scenePlaces[workgroupOfAll.z];
  let scene = ${this.#data};
  let size = sizeOfScene(place.size);
  for (var n = workgroupOfAll.x; n < size.x * size.y; n += workgroupsOfAll.x) {
    ${name}OfScene(${given.join(', ')});
${barrier}  }
}`;
  }

  #rewriteText(text: string): string {
    let written = '';
    let at = 0;
    for (const match of text.matchAll(NAME)) {
      const [name] = match;
      if (match.index < at) continue;
      const end = match.index + name.length;
      const binding = this.#bindings.get(name);
      written += text.slice(at, match.index);
      at = end;
      if (binding) {
        const base = `scene.${binding.base}`;
        if (binding.isArray && text[end] === '[') {
          const close = endOf(text, end, '[', ']');
          written += `${name}[${base} + u32(${this.#rewriteText(text.slice(end + 1, close))})]`;
          at = close + 1;
        } else if (binding.isUniform && text[end] === '.') written += `scene.${name}`;
        else if (!binding.isArray && text[end] === '.') written += `${name}[${base}].own`;
        else throw new Error(`A kernel uses the buffer ${name} as a whole: ${text.slice(match.index, end + 20)}`);
      } else if (this.#needing.has(name) && /^\s*\(/.test(text.slice(end))) {
        const open = text.indexOf('(', end);
        written += `${name}(scene${/^\(\s*\)/.test(text.slice(open)) ? '' : ', '}`;
        at = open + 1;
      } else written += name;
    }
    return written + text.slice(at);
  }
}

const BUILTINS: Readonly<Record<string, string>> = {
  workgroup_id: 'vec3u(n % size.x, n / size.x, 0u)',
  num_workgroups: 'vec3u(size, 1u)',
  local_invocation_index: 'threadOfGroup',
};

function refuse(builtin: string): never {
  throw new Error(`A kernel asks for ${builtin}, which a convoy does not know.`);
}
