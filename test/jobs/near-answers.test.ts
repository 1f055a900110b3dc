import t from 'tap';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { testNearAnswers } from './near-answer-tests.js';

testNearAnswers(t, createCpuEngine());
