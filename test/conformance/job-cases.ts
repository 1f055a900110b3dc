import { type Call, type Case, FREE, float32, type Json, MESH, PIERCED, START } from './case.js';

const RESOLVE = { mesh: MESH, start: float32(START), target: float32(FREE) };
const submit = (over: Json = {}): Call => ({
  operation: 'submitJob',
  request: { resolve: RESOLVE, ...over },
  // A job that fails at once holds nothing any more.
  answer: { id: /^[0-9a-f]{32}$/, state: /^JOB_/, bytes: /^\d/ },
});

/** Submitted resolves. */
export const WITH_JOBS: readonly Case[] = [
  {
    name: 'a job is submitted, awaited, fetched twice and deleted',
    calls: [
      submit({ label: 'cape', keepFor: '60s' }),
      {
        operation: 'getJob',
        request: { jobId: '$id', wait: '60s' },
        answer: { id: '$id', state: 'JOB_DONE', label: 'cape', expires: /^20/ },
      },
      ...[1, 2].map(
        (): Call => ({
          operation: 'getJobResult',
          request: { jobId: '$id' },
          answer: { positions: float32(FREE), report: { status: 'CONVERGED', verification: { performed: 'STATE' } } },
        }),
      ),
      { operation: 'listJobs', request: { label: 'cape' }, answer: { jobs: [{ id: '$id' }] } },
      { operation: 'deleteJob', request: { jobId: '$id' } },
      { operation: 'getJob', request: { jobId: '$id' }, refusal: { code: 'JOB_NOT_FOUND' } },
      { operation: 'getJobResult', request: { jobId: '$id' }, refusal: { code: 'JOB_NOT_FOUND' } },
    ],
  },
  {
    name: 'a job that fails has the error that the resolve would have',
    calls: [
      submit({ resolve: { ...RESOLVE, start: float32(PIERCED) } }),
      {
        operation: 'getJob',
        request: { jobId: '$id', wait: '60s' },
        answer: { state: 'JOB_FAILED', error: { code: 'INTERSECTING_START', pairCount: /^[1-9]/ } },
      },
      { operation: 'getJobResult', request: { jobId: '$id' }, refusal: { code: 'INTERSECTING_START' } },
    ],
  },
  {
    name: 'an untangling as a job has the whole answer, and nothing of a resolve',
    calls: [
      { ...submit(), request: { untangle: { mesh: MESH, positions: float32(PIERCED) }, label: 'tangle' } },
      {
        operation: 'getJob',
        request: { jobId: '$id', wait: '60s' },
        answer: { state: 'JOB_DONE', untangleProgress: { iteration: Number } },
      },
      {
        operation: 'getJobResult',
        request: { jobId: '$id' },
        answer: { untangle: { positions: { scalar: 'FLOAT32' }, report: { piercesBefore: /^[1-9]/ } } },
      },
    ],
  },
  {
    name: 'malformed jobs',
    calls: [
      {
        operation: 'submitJob',
        request: { resolve: RESOLVE, untangle: { mesh: MESH, positions: float32(PIERCED) } },
        refusal: { code: 'INVALID_PARAMETER', message: /one of/ },
      },
      { operation: 'submitJob', request: {}, refusal: { code: 'MALFORMED_BODY', message: /no work/, hint: /resolve/ } },
      {
        operation: 'submitJob',
        request: { resolve: { mesh: MESH, start: float32(START) } },
        refusal: { code: 'MALFORMED_BODY', message: /target/ },
      },
      {
        operation: 'submitJob',
        request: { resolve: RESOLVE, keepFor: '0s' },
        refusal: { code: 'INVALID_PARAMETER', message: /keepFor/ },
      },
      { operation: 'getJob', request: { jobId: 'f'.repeat(32) }, refusal: { code: 'JOB_NOT_FOUND' } },
      { operation: 'deleteJob', request: { jobId: 'f'.repeat(32) }, refusal: { code: 'JOB_NOT_FOUND' } },
      {
        operation: 'getJob',
        request: { jobId: 'f'.repeat(32), wait: '61s' },
        refusal: { code: 'INVALID_PARAMETER', message: /wait/ },
      },
      { operation: 'listJobs', request: { pageToken: 'x' }, refusal: { code: 'INVALID_PARAMETER' } },
    ],
  },
];
