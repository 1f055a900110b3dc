import t from 'tap';
import { type Fault, plantFault } from '../../../../bench/prove/mutants/fault.js';

const MODULE = `
const LIMIT = 3;
export function limited(x, limit = LIMIT) { return Math.min(x, limit); }
const doubled = (x) => 2 * x;
async function later(x) { return x; }
class Counter {
    count = 1;
    #step;
    constructor(step) { this.#step = step; }
    get next() { return this.count + this.#step; }
    advance() { this.#move(this.#step); return this.count; }
    #move(by) { this.count += by; }
}
export const run = async () => ({
    limited: [limited(1), limited(5)],
    doubled: doubled(4),
    later: await later(6),
    next: new Counter(1).next,
    advanced: new Counter(1).advance(),
});
`;

async function behaviourWith(...faults: Fault[]): Promise<unknown> {
  const text = faults.reduce(plantFault, MODULE);
  return (await import(`data:text/javascript,${encodeURIComponent(text)}`)).run();
}

const file = 'src/module.js';
const plain = { limited: [1, 3], doubled: 8, later: 6, next: 2, advanced: 2 };

t.test('a function is replaced, and its replacement may call it', async (t) => {
  t.same(await behaviourWith(), plain);
  const plusTen = (original: (...of: number[]) => number, ...of: number[]) => 10 + original(...of);
  t.same(await behaviourWith({ file, function: 'limited', instead: plusTen }), { ...plain, limited: [11, 13] });
  t.same(await behaviourWith({ file, function: 'doubled', instead: plusTen }), { ...plain, doubled: 18 });
  t.same(await behaviourWith({ file, function: 'Counter.next', instead: plusTen }), { ...plain, next: 12 });
  const laterStill = async (original: (x: number) => Promise<number>, x: number) => 1 + (await original(x));
  t.same(await behaviourWith({ file, function: 'later', instead: laterStill }), { ...plain, later: 7 });
});

t.test('private members and the constructor can be replaced, and see the object', async (t) => {
  const twice = (original: (by: number) => void, by: number) => original(2 * by);
  t.same(await behaviourWith({ file, function: 'Counter.#move', instead: twice }), { ...plain, advanced: 3 });
  const counting = function (this: { count: number }, original: (step: number) => void, step: number) {
    original(step);
    this.count = 5;
  };
  const counted = { ...plain, next: 6, advanced: 6 };
  t.same(await behaviourWith({ file, function: 'Counter.constructor', instead: counting }), counted);
});

t.test('constants and fields are replaced, and faults add up', async (t) => {
  t.same(await behaviourWith({ file, constant: 'LIMIT', value: '2 + 2' }), { ...plain, limited: [1, 4] });
  const field: Fault = { file, constant: 'Counter.count', value: '7' };
  t.same(await behaviourWith(field, { file, function: 'doubled', instead: () => 0 }), {
    ...plain,
    doubled: 0,
    next: 8,
    advanced: 8,
  });
});

t.test('a fault that does not fit is refused by name', async (t) => {
  const plant = (fault: Fault) => () => plantFault(MODULE, fault);
  t.throws(plant({ file, function: 'absent', instead: () => 0 }), /src\/module\.js has no function absent/);
  t.throws(plant({ file, constant: 'ABSENT', value: '0' }), /src\/module\.js has no constant ABSENT/);
  t.throws(plant({ file, search: 'return', replacement: '' }), /src\/module\.js has 4 times: return/);
  const two = (_original: unknown, _a: number, _b: number) => 0;
  t.throws(plant({ file, function: 'doubled', instead: two }), /doubled takes fewer than 2 arguments/);
  const twins = `${MODULE}\nfunction outer() { const doubled = () => 0; return doubled; }`;
  t.throws(() => plantFault(twins, { file, function: 'doubled', instead: () => 0 }), /that alone is called doubled/);
  t.throws(plant({ file, function: 'doubled', instead: () => plain }), /refers to plain, which is unknown/);
});

const KERNEL = `
const LIMIT: f32 = 3.0;
fn limited(x: f32) -> f32 {
  if (x > LIMIT) { return LIMIT; }
  return x;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = limited(out[id.x]); }
`;

t.test('functions and constants of kernels are replaced', async (t) => {
  const kernel = 'gpu/kernels/module.wgsl';
  t.match(plantFault(KERNEL, { file: kernel, constant: 'LIMIT', value: '4.0' }), 'const LIMIT: f32 = 4.0;');
  const body = 'return 2.0 * original_limited(x);';
  const planted = plantFault(KERNEL, { file: kernel, function: 'limited', body });
  t.match(planted, `fn limited(x: f32) -> f32 { ${body} }`);
  t.match(
    planted,
    'fn original_limited(x: f32) -> f32 {\n  if (x > LIMIT) { return LIMIT; }\n  return x;\n}\n@compute',
  );
  t.notMatch(plantFault(KERNEL, { file: kernel, function: 'limited', body: 'return x;' }), 'original_limited');
  t.throws(() => plantFault(KERNEL, { file: kernel, function: 'absent', body: '' }), /has no function absent/);
  t.throws(() => plantFault(KERNEL, { file: kernel, constant: 'ABSENT', value: '0' }), /has no constant ABSENT/);
});
