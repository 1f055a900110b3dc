import { type Case, FREE, float32, MESH, open, PIERCED, START } from './case.js';

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
