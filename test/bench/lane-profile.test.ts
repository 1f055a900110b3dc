import type { Profiler } from 'node:inspector';
import t from 'tap';
import { summarise } from '../../bench/lane-profile.js';

const node = (id: number, functionName: string, url: string, children: number[]): Profiler.ProfileNode => ({
  ...{ id, children, hitCount: 0 },
  callFrame: { functionName, url, scriptId: '0', lineNumber: 0, columnNumber: 0 },
});

t.test('what runs below a shared run counts as shared, all else by its file', async (t) => {
  const nodes = [
    node(1, '(root)', '', [2, 3, 8]),
    node(2, '(idle)', '', []),
    node(3, 'resolve', 'file:///a/two-way.js', [4, 6]),
    node(4, '#share', 'file:///a/threads/team.js', [5]),
    node(5, 'kernel', 'file:///a/bound.js', []),
    // The same kernel in a run that is not worth sharing.
    node(6, '#compute', 'file:///a/threads/team.js', [7]),
    node(7, 'kernel', 'file:///a/bound.js', []),
    node(8, '(garbage collector)', '', []),
  ];
  const samples = [1, 2, 3, 4, 5, 5, 7, 7, 8];
  const timeDeltas = [1000, 9000, 500, 1000, 2000, 3000, 4000, 5000, 250];
  t.strictSame(summarise({ nodes, samples, timeDeltas, startTime: 0, endTime: 0 }), {
    shared: 6,
    serial: 9.75,
    files: [
      ['bound', 9],
      ['two-way', 0.5],
      ['(garbage collector)', 0.25],
    ],
  });
});
