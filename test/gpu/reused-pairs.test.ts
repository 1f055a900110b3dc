import t from 'tap';
import { testReusedPairs } from '../jobs/reused-pairs-tests.js';
import { openTestEngine } from '../support/gpu.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

if (!engine) t.test('reused pairs on the GPU engine', options, async () => undefined);
else testReusedPairs(t, engine);
