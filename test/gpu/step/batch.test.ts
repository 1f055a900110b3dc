import t from 'tap';
import { PHASE } from '../../../gpu/kernels/constants.js';
import { MAX_BATCH_STEPS, stepsPerBatch } from '../../../gpu/step/batch.js';
import { sweepsOf } from '../../../gpu/step/request.js';
import { toSettings } from '../../../src/solver/settings.js';
import { sampleParameters } from '../../support/sample-parameters.js';

t.test('a submission has one step of the pull-back, whatever its quality, and several of Algorithm 1', async (t) => {
  for (const quality of ['BALANCED', 'FINE'] as const) {
    const settings = toSettings({ ...sampleParameters, quality }, { scale: 1, floor: 0.001 });
    for (const phase of [PHASE.PULL, PHASE.SHORTEN]) t.equal(stepsPerBatch(sweepsOf(settings, phase)), 1);
    t.equal(stepsPerBatch(sweepsOf(settings, PHASE.ADVANCE)), MAX_BATCH_STEPS);
  }
});
