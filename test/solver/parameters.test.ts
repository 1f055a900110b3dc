import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { Parameters, ParametersInput } from '../../src/contract/parameters.js';
import type { MeshMeasures } from '../../src/mesh/types.js';
import { defaultsOf, type ParameterRules, resolveParameters } from '../../src/solver/parameters.js';

const MEASURES: MeshMeasures = {
  medianEdge: 10,
  typicalEdge: 10,
  minHeight: 5,
  bounds: [0, 0, 0, 100, 100, 0],
  warnings: [],
};

function resolve(input: ParametersInput = {}, measures = MEASURES, rules: ParameterRules = {}): Parameters {
  return resolveParameters(input, measures, rules).parameters;
}

function refusal(input: ParametersInput, measures = MEASURES): IntersticeError {
  try {
    resolve(input, measures);
  } catch (error) {
    if (error instanceof IntersticeError) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(input)}`);
}

t.test('preset TUNED is the default, and follows the mesh', async (t) => {
  t.same(resolve(), {
    preset: 'TUNED',
    activationDistance: 1,
    reach: 1.8,
    leap: 20,
    searchRadiusMin: 2,
    searchRadiusMax: 4,
    stretchLimit: 1.1,
    damping: 0.9,
    residualTolerance: 0.0001,
    stepLimit: 512,
    sweepsPerStep: 2,
    metresPerUnit: 1,
    forward: 'PLANAR',
    contact: 'GAP',
    verify: 'STATE',
    onIntersectingStart: 'REJECT',
    kinematicPairs: 'SKIP',
    quality: 'BALANCED',
    method: 'TWO_WAY',
    contactOffset: 0.125,
  });
});

t.test('preset PAPER is metric', async (t) => {
  const paper = resolve({ preset: 'PAPER', metresPerUnit: 0.001 });
  t.match(paper, {
    preset: 'PAPER',
    activationDistance: 1,
    searchRadiusMin: 2,
    searchRadiusMax: 4,
    sweepsPerStep: 1,
    forward: 'ISOTROPIC',
    contact: 'VOLUME',
  });
  t.equal(resolve({ preset: 'PAPER' }).activationDistance, 0.001);
  t.equal(resolve({ metresPerUnit: 0.001 }).activationDistance, 1, 'and TUNED is not');
});

t.test('set parameters take precedence over the preset, and lengths follow δ', async (t) => {
  t.match(resolve({ activationDistance: 2, damping: 0.5, contact: 'VOLUME', leap: 0 }), {
    activationDistance: 2,
    reach: 3.6,
    leap: 0,
    damping: 0.5,
    contact: 'VOLUME',
  });
  t.match(resolve({ preset: 'PAPER', searchRadiusMin: 1 }), { searchRadiusMin: 1, searchRadiusMax: 1 });
  t.equal(resolve({ stretchLimit: 0 }).stretchLimit, 0);
  t.equal(resolve({ damping: undefined }).damping, 0.9, 'undefined is unset');
});

t.test('every range has an end that is refused, with name, value and range', async (t) => {
  const refused: [ParametersInput, RegExp][] = [
    [{ activationDistance: 0 }, /activationDistance is 0; .* greater than 0/],
    [{ activationDistance: -1 }, /activationDistance is -1/],
    [{ activationDistance: Number.NaN }, /activationDistance is NaN/],
    [{ activationDistance: Infinity }, /activationDistance is Infinity; .* at most/],
    [{ reach: 0 }, /reach is 0; it must be greater than 0/],
    [{ leap: -0.1 }, /leap is -0.1; it must be at least 0/],
    [{ leap: 1e30 }, /leap is 1e\+30; .* at most 100000000/],
    [{ preset: 'PAPER', searchRadiusMin: 0.0009 }, /searchRadiusMin is 0.0009; it must be at least 0.001/],
    [{ preset: 'PAPER', searchRadiusMax: 0.0019 }, /searchRadiusMax is 0.0019; it must be at least 0.002/],
    [{ stretchLimit: 1 }, /stretchLimit is 1; it must be 0 \(off\) or greater than 1/],
    [{ stretchLimit: Number.NaN }, /stretchLimit/],
    [{ damping: 0 }, /damping is 0/],
    [{ damping: 1 }, /damping is 1; it must be greater than 0 and less than 1/],
    [{ residualTolerance: 1 }, /residualTolerance is 1/],
    [{ residualTolerance: 0 }, /residualTolerance is 0/],
    [{ stepLimit: 0 }, /stepLimit is 0; it must be a whole number from 1/],
    [{ stepLimit: 1.5 }, /stepLimit is 1.5/],
    [{ stepLimit: 2 ** 32 }, /stepLimit is 4294967296/],
    [{ sweepsPerStep: 0 }, /sweepsPerStep is 0/],
    [{ sweepsPerStep: 1001 }, /sweepsPerStep is 1001; it must be a whole number from 1 to 1000/],
    [{ metresPerUnit: 0 }, /metresPerUnit is 0/],
    [{ metresPerUnit: -1 }, /metresPerUnit is -1/],
    [{ forward: 'SIDEWAYS' as 'PLANAR' }, /forward is SIDEWAYS; it must be one of PLANAR, ISOTROPIC/],
    [{ preset: 'BEST' as 'TUNED' }, /preset is BEST; it must be one of TUNED, PAPER/],
  ];
  for (const [input, message] of refused) {
    const error = refusal(input);
    t.equal(error.code, 'INVALID_PARAMETER', JSON.stringify(input));
    t.match(error.message, message);
  }
});

t.test('the radii belong to PAPER', async (t) => {
  t.match(refusal({ searchRadiusMin: 3 }), { code: 'INVALID_PARAMETER', message: /searchRadiusMin is 3; .* PAPER/ });
  t.match(refusal({ searchRadiusMax: 5 }), { code: 'INVALID_PARAMETER', message: /searchRadiusMax is 5; .* PAPER/ });
  t.same(resolve(resolve()), resolve(), 'but what a report says was resolved can be sent back');
  const paper = resolve({ preset: 'PAPER', activationDistance: 0.3 });
  t.same(resolve(paper), paper);
});

t.test('without any length δ must be set', async (t) => {
  const flat = { ...MEASURES, medianEdge: 0, typicalEdge: 0, minHeight: Infinity };
  t.match(refusal({}, flat), { code: 'INVALID_PARAMETER', message: /activationDistance is unset.* must be set/ });
  const parameters = resolve({ activationDistance: 0.5 }, flat);
  t.equal(parameters.leap, 10, '20 δ, the ratio of the defaults');
  t.equal(resolve({ preset: 'PAPER' }, flat).activationDistance, 0.001, 'PAPER needs no mesh');
});

t.test('IGNORE_PAIRS is accepted; verify NONE only if it is allowed', async (t) => {
  t.equal(resolve({ onIntersectingStart: 'IGNORE_PAIRS' }).onIntersectingStart, 'IGNORE_PAIRS');
  t.equal(refusal({ verify: 'NONE' }).code, 'PERMISSION_DENIED');
  t.equal(resolve({ verify: 'NONE' }, MEASURES, { allowUnverified: true }).verify, 'NONE');
});

t.test('warnings contain the numbers', async (t) => {
  const warningsOf = (input: ParametersInput, measures = MEASURES) => resolveParameters(input, measures).warnings;
  t.same(warningsOf({}), []);
  t.same(warningsOf({ activationDistance: 5 }), [], 'half the edge, and the height, are still allowed');
  const both = warningsOf({ activationDistance: 5.5 });
  t.same(
    both.map(({ code }) => code),
    ['DELTA_ABOVE_HALF_EDGE', 'DELTA_ABOVE_HEIGHT'],
  );
  t.match(both[0]?.message, /5\.5 .*10/);
  t.match(both[1]?.message, /5\.5 .*\(5\)/);
  t.same(
    warningsOf({ preset: 'PAPER', reach: 3 }).map(({ code }) => code),
    ['PARAMETER_WITHOUT_EFFECT'],
  );
  t.match(warningsOf({ quality: 'FAST', contactOffset: 0 }), [
    { code: 'PARAMETER_WITHOUT_EFFECT', message: /^contactOffset has no effect under quality FAST/ },
  ]);
  const { contactOffset } = resolve({});
  t.same(warningsOf({ quality: 'FAST', contactOffset }), [], 'what a report says was in use');
  t.same(warningsOf({ contactOffset: 0 }), []);
  const impulses = { method: 'VOLUME_IMPULSES', activationDistance: 5.5 } as const;
  t.same(warningsOf(impulses), [], 'impulses push no neighbours apart, however large δ is');
});

t.test('the defaults that need no mesh are those that are used', async (t) => {
  for (const preset of ['TUNED', 'PAPER'] as const) t.match(resolve({ preset }), defaultsOf(preset));
});

t.test('a quality needs preset TUNED and an engine that has it, and an offset lies within δ', async (t) => {
  const without = { engine: { description: { name: 'webgpu: x' } } };
  const having = { engine: { description: { name: 'cpu', qualities: ['FAST', 'BALANCED'] as const } } };
  const attempt = (input: ParametersInput, rules = {}) => resolveParameters(input, MEASURES, rules).parameters;
  t.match(attempt({ quality: 'BALANCED', contactOffset: 0 }, having), { quality: 'BALANCED', contactOffset: 0 });
  t.match(attempt({ quality: 'FAST' }, without), { quality: 'FAST' });
  t.match(attempt({}, without), { quality: 'FAST' }, 'the default is what the engine has');
  t.match(attempt({}, having), { quality: 'BALANCED' });
  t.match(attempt({ preset: 'PAPER' }, having), { quality: 'FAST' });
  t.throws(() => attempt({ quality: 'BALANCED' }, without), { code: 'UNIMPLEMENTED', message: /webgpu: x/ });
  t.throws(() => attempt({ quality: 'FINE' }, having), { code: 'UNIMPLEMENTED' });
  t.throws(() => attempt({ quality: 'FINE', preset: 'PAPER' }), {
    code: 'INVALID_PARAMETER',
    message: /quality is FINE/,
  });
  t.throws(() => attempt({ quality: 'BEST' } as never), { code: 'INVALID_PARAMETER', message: /FAST, BALANCED, FINE/ });
  for (const contactOffset of [-1e-9, Number.NaN, 1.01]) {
    t.throws(() => attempt({ contactOffset }), { code: 'INVALID_PARAMETER', message: /contactOffset/ });
  }
});

t.test('a method needs an engine that has it', async (t) => {
  const attempt = (input: ParametersInput, rules = {}) => resolveParameters(input, MEASURES, rules).parameters;
  const cpu = { engine: { description: { name: 'cpu', methods: ['TWO_WAY', 'VOLUME_IMPULSES'] as const } } };
  const webgpu = { engine: { description: { name: 'webgpu: x' } } };
  t.match(attempt({}, webgpu), { method: 'TWO_WAY' });
  t.match(attempt({ method: 'VOLUME_IMPULSES' }, cpu), { method: 'VOLUME_IMPULSES', quality: 'FAST' });
  t.throws(() => attempt({ method: 'VOLUME_IMPULSES' }, webgpu), { code: 'UNIMPLEMENTED', message: /webgpu: x/ });
  t.throws(() => attempt({ method: 'GAUSS_SEIDEL' } as never), { code: 'INVALID_PARAMETER', message: /TWO_WAY/ });
});
