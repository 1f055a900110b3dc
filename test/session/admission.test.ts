import t from 'tap';
import { admitCheck, admitResolve } from '../../src/session/admission.js';
import { LIMITS, spike } from '../support/job.js';

const request = spike(1, 0.5);
const TOO_LARGE = { code: 'TOO_LARGE' };

t.test('requests within the limits are admitted', async (t) => {
  t.doesNotThrow(() => admitResolve(request, LIMITS));
  t.doesNotThrow(() => admitResolve(request, { ...LIMITS, maxVertices: 6, maxElements: 2 }), 'up to the limit');
  t.doesNotThrow(() => admitCheck({ mesh: request.mesh, positions: request.start }, LIMITS));
});

t.test('a refusal names demand and limit', async (t) => {
  t.throws(() => admitResolve(request, { ...LIMITS, maxVertices: 5 }), {
    ...TOO_LARGE,
    message: /6 vertices.* 5\.$/,
    hint: /INTERSTICE_MAX_VERTICES/,
  });
  t.throws(() => admitResolve(request, { ...LIMITS, maxElements: 1 }), {
    ...TOO_LARGE,
    message: /2 elements.* 1\.$/,
    hint: /INTERSTICE_MAX_ELEMENTS/,
  });
  const bytes = 6 * 4 + 18 * 4 + 18 * 4;
  t.doesNotThrow(() => admitResolve(request, { ...LIMITS, maxMessageBytes: bytes }));
  t.throws(() => admitResolve(request, { ...LIMITS, maxMessageBytes: bytes - 1 }), {
    ...TOO_LARGE,
    message: /168 bytes.* 167\.$/,
    hint: /INTERSTICE_MAX_MESSAGE_BYTES/,
  });
  const check = { mesh: request.mesh, positions: request.start };
  t.throws(() => admitCheck(check, { ...LIMITS, maxVertices: 5 }), TOO_LARGE);
  t.throws(() => admitCheck(check, { ...LIMITS, maxMessageBytes: 50 }), TOO_LARGE);
});

t.test('all kinds of elements count towards the limit', async (t) => {
  const mesh = {
    vertexCount: 20,
    triangles: new Uint32Array(3),
    segments: new Uint32Array(4),
    particles: new Uint32Array(3),
    tetrahedra: new Uint32Array(16),
  };
  t.throws(() => admitResolve({ ...request, mesh }, { ...LIMITS, maxElements: 9 }), { message: /10 elements/ });
  t.doesNotThrow(() => admitResolve({ ...request, mesh }, { ...LIMITS, maxElements: 10 }));
});

t.test('a time budget outside its range is refused', async (t) => {
  for (const timeBudgetSeconds of [0, -1, 601, Number.NaN, Infinity]) {
    t.throws(() => admitResolve({ ...request, timeBudgetSeconds }, LIMITS), {
      code: 'INVALID_PARAMETER',
      message: new RegExp(`timeBudget is ${timeBudgetSeconds} s.* at most 600 s`),
      hint: timeBudgetSeconds > 600 ? /INTERSTICE_MAX_TIME_BUDGET_SECONDS/ : /^Use a value within the stated range/,
    });
  }
  t.doesNotThrow(() => admitResolve({ ...request, timeBudgetSeconds: 600 }, LIMITS));
});
