import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { testContactOffset } from '../contact-offset-tests.js';

t.setTimeout(600_000);

testContactOffset(t, createCpuEngine());
