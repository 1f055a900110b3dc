import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { type OptionsContext, readOptions } from '../../../src/transport/json/options.js';

const context: OptionsContext = {
  vertexCount: 6,
  parts: [
    { name: 'dress.obj', firstVertex: 0, vertexCount: 4 },
    { name: 'body.obj', firstVertex: 4, vertexCount: 2 },
  ],
};
const refusal = (value: unknown, over: Partial<OptionsContext> = {}): string => {
  try {
    readOptions(value, { ...context, ...over });
  } catch (error) {
    if (error instanceof IntersticeError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};

t.test('the three ways to name kinematic vertices add up', async (t) => {
  const kinematic = (value: unknown) => readOptions(value, context).kinematic;
  t.equal(kinematic({}), undefined);
  t.same(kinematic({ kinematicFrom: 4 }), Uint8Array.of(0, 0, 0, 0, 1, 1));
  t.same(kinematic({ kinematicFrom: 6 }), new Uint8Array(6), 'nothing lies behind the last vertex');
  t.same(kinematic({ kinematic_from: 5, kinematicVertices: [0, 2] }), Uint8Array.of(1, 0, 1, 0, 0, 1));
  t.same(kinematic({ kinematicParts: ['body.obj'], kinematicVertices: [1] }), Uint8Array.of(0, 1, 0, 0, 1, 1));
  t.same(kinematic({ kinematicVertices: [] }), new Uint8Array(6));
});

t.test('vertices and files that are not there are refused', async (t) => {
  t.match(refusal({ kinematicFrom: 7 }), /INDEX_OUT_OF_RANGE: kinematicFrom is 7, but there are 6 vertices/);
  t.match(refusal({ kinematicVertices: [0, 6] }), /INDEX_OUT_OF_RANGE: kinematicVertices\[1\] is 6/);
  t.match(refusal({ kinematicVertices: [0, -1] }), /MALFORMED_BODY: kinematicVertices\[1\]/);
  t.match(refusal({ kinematicParts: ['shoe.obj'] }), /INVALID_PARAMETER: kinematicParts\[0\] is "shoe.obj"/);
  const twice = [...context.parts, { name: 'body.obj', firstVertex: 6, vertexCount: 0 }];
  t.match(refusal({ kinematicParts: ['body.obj'] }, { parts: twice }), /INVALID_PARAMETER: .*2 files have that name/);
});

t.test('parameters and all other options are read', async (t) => {
  t.same(
    readOptions(
      {
        parameters: { preset: 'PAPER', reach: 2, verify: 'VERIFY_UNSPECIFIED' },
        include: { contacts: true },
        timeBudget: '1.5s',
        onBudget: 'FAIL',
        maxPairs: 3,
        reportPairsCloserThan: 0.5,
        kinematicPairs: 'PROTECT',
      },
      context,
    ),
    {
      parameters: { preset: 'PAPER', reach: 2 },
      include: { contacts: true, vertices: false },
      timeBudgetSeconds: 1.5,
      onBudget: 'FAIL',
      maxPairs: 3,
      reportPairsCloserThan: 0.5,
      kinematicPairs: 'PROTECT',
    },
  );
  t.same(readOptions({}, context), { parameters: {} });
});

t.test('options without a meaning here are refused by name', async (t) => {
  t.match(
    refusal({ kinematik: 1 }, { path: 'options' }),
    /UNKNOWN_FIELD: options\.kinematik is not a field of Options/,
  );
  t.match(
    refusal({ maxPairs: 1 }, { operation: 'resolve' }),
    /INVALID_PARAMETER: maxPairs is not an option of a resolve/,
  );
  t.match(
    refusal({ parameters: {} }, { operation: 'check' }),
    /INVALID_PARAMETER: parameters is not an option of a check/,
  );
  t.match(refusal({ onBudget: 'FAIL' }, { operation: 'check' }), /onBudget is not an option of a check/);
  t.equal(refusal({ timeBudget: '1s' }, { operation: 'check' }), 'accepted');
  t.match(refusal({ include: { progress: true } }), /INVALID_PARAMETER: include\.progress/);
  t.match(refusal({ priority: 'SOON' }), /INVALID_PARAMETER: priority/);
  t.equal(refusal({ priority: 'BATCH' }), 'accepted');
  t.match(refusal(null), /MALFORMED_BODY/);
});

t.test('hints name only options that the operation and the caller accept', async (t) => {
  const hintOf = (value: unknown, over: Partial<OptionsContext>): string => {
    try {
      readOptions(value, { ...context, ...over });
    } catch (error) {
      if (error instanceof IntersticeError) return error.hint;
      throw error;
    }
    return 'accepted';
  };
  t.match(hintOf({ stepLimit: 1 }, {}), /^Known fields: parameters, .*include, .*maxPairs/);
  t.notMatch(hintOf({ stepLimit: 1 }, { operation: 'check' }), /parameters|include|onBudget|priority/);
  t.notMatch(hintOf({ stepLimit: 1 }, { operation: 'resolve' }), /maxPairs/);
  const unsupported = ['include'];
  t.notMatch(hintOf({ stepLimit: 1 }, { operation: 'resolve', unsupported }), /include/);
  t.notMatch(hintOf({ Include: {} }, { operation: 'resolve', unsupported }), /include/);
  t.notMatch(hintOf({ maxPairs: 1 }, { operation: 'resolve', unsupported }), /include|maxPairs/);
  t.match(
    hintOf({ parameters: { step: 1 } }, { operation: 'check' }),
    /^Known fields: .*stepLimit/,
    'of a nested message',
  );
});
