import { type Case, FREE, float32, type Json, MESH, open, PIERCED, type Refusal, START } from './case.js';

/** A session does not get a method that its steps, and its creation, would be refused for. */
function notUpdated(mesh: string, { refusal, ...rest }: { readonly refusal: Refusal } & Json): Case {
  const parameters = { ...(rest.parameters as Json), method: 'VOLUME_IMPULSES' };
  const label = 'not kept';
  return {
    name: `a method that does not accept ${mesh}`,
    calls: [
      { operation: 'createSession', request: { start: float32(START), ...rest, parameters }, refusal },
      open({ ...rest }, { mesh: { vertices: 6 } }),
      { operation: 'updateSession', request: { sessionId: '$id', label, parameters }, refusal },
      {
        operation: 'getSession',
        request: { sessionId: '$id' },
        answer: { label: '', resolved: { method: 'TWO_WAY' } },
      },
      { operation: 'step', request: { sessionId: '$id', target: float32(FREE) }, answer: { frame: '1' } },
    ],
  };
}

/** Sessions and their steps. */
export const WITH_SESSIONS: readonly Case[] = [
  {
    name: 'a session from its creation to its end',
    calls: [
      open({ label: 'cape', idleTimeout: '60s', parameters: { activationDistance: 0.01 } }),
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '1', target: float32(FREE) },
        answer: {
          frame: '1',
          positions: float32(FREE),
          report: { status: 'CONVERGED', resolved: { activationDistance: 0.01 } },
        },
      },
      {
        operation: 'getSession',
        request: { sessionId: '$id' },
        answer: { id: '$id', frame: '1', label: 'cape', idleTimeout: '60s', lastReport: { status: 'CONVERGED' } },
      },
      {
        operation: 'updateSession',
        request: { sessionId: '$id', label: 'cloak', parameters: { stepLimit: 99 } },
        answer: { id: '$id', label: 'cloak', resolved: { stepLimit: 99, activationDistance: 0.01 } },
      },
      {
        operation: 'listSessions',
        request: { label: 'cloak' },
        answer: { sessions: [{ id: '$id' }], nextPageToken: '' },
      },
      { operation: 'check', request: { sessionId: '$id' }, answer: { intersectionFree: true } },
      { operation: 'deleteSession', request: { sessionId: '$id' }, answer: {} },
      { operation: 'deleteSession', request: { sessionId: '$id' }, refusal: { code: 'SESSION_NOT_FOUND' } },
      { operation: 'getSession', request: { sessionId: '$id' }, refusal: { code: 'SESSION_NOT_FOUND' } },
    ],
  },
  {
    name: 'frames',
    calls: [
      open(),
      { operation: 'step', request: { sessionId: '$id', frame: '5', target: float32(FREE) }, answer: { frame: '5' } },
      // The same frame and payload: the stored answer.
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '5', target: float32(FREE) },
        answer: { frame: '5', positions: float32(FREE) },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '5', target: float32(START) },
        refusal: { code: 'FRAME_CONFLICT' },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '4', target: float32(START) },
        refusal: { code: 'FRAME_OUT_OF_ORDER' },
      },
      // Beyond what a double holds exactly.
      {
        operation: 'step',
        request: { sessionId: '$id', frame: '9007199254740993', target: float32(START) },
        answer: { frame: '9007199254740993' },
      },
      {
        operation: 'step',
        request: { sessionId: '$id' },
        answer: { frame: '9007199254740994', positions: float32(START) },
      },
    ],
  },
  {
    name: 'steps that are refused change nothing',
    calls: [
      open(),
      {
        operation: 'step',
        request: { sessionId: '$id', target: float32([1, 2, 3]) },
        refusal: { code: 'SIZE_MISMATCH' },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', target: float32(FREE), override: { damping: 7 } },
        refusal: { code: 'INVALID_PARAMETER', message: /damping/ },
      },
      {
        operation: 'step',
        request: { sessionId: '$id', target: float32(FREE), include: { progress: true } },
        refusal: { code: 'INVALID_PARAMETER', message: /progress/ },
      },
      { operation: 'getSession', request: { sessionId: '$id' }, answer: { frame: '0' } },
    ],
  },
  notUpdated('a mesh with strain limits', {
    mesh: { ...MESH, strainLimits: { rest: float32(START), min: 0.9, max: 1.1 } },
    parameters: { quality: 'BALANCED' },
    refusal: { code: 'UNIMPLEMENTED', message: /strainLimits/ },
  }),
  notUpdated('a mesh with particles that could meet', {
    mesh: { vertexCount: 6, triangles: [0, 1, 2], particles: [3, 4, 5] },
    parameters: {},
    refusal: { code: 'INVALID_PARAMETER', message: /3 free particles/ },
  }),
  notUpdated('a mesh with a particle and a rod', {
    mesh: { vertexCount: 6, particles: [0], segments: [1, 2], triangles: [3, 4, 5] },
    parameters: {},
    refusal: { code: 'INVALID_PARAMETER', message: /rods/ },
  }),
  {
    name: 'sessions that are not there',
    calls: [
      {
        operation: 'step',
        request: { sessionId: 'f'.repeat(32), target: float32(FREE) },
        refusal: { code: 'SESSION_NOT_FOUND' },
      },
      { operation: 'check', request: { sessionId: 'f'.repeat(32) }, refusal: { code: 'SESSION_NOT_FOUND' } },
    ],
  },
  {
    name: 'a session does not open on a start that intersects',
    calls: [
      {
        operation: 'createSession',
        request: { mesh: MESH, start: float32(PIERCED) },
        refusal: { code: 'INTERSECTING_START' },
      },
    ],
  },
];
