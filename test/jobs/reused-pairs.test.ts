import t from 'tap';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { testReusedPairs } from './reused-pairs-tests.js';

testReusedPairs(t, createCpuEngine());
