import t from 'tap';
import { layOut } from '../../bench/result-file.js';

t.test('a result file is JSON with a line a run', async (t) => {
  const result = {
    date: 'today',
    machine: { cores: 2, engines: [{ name: 'cpu', qualities: ['FAST', 'FINE'] }] },
    runs: [
      { seed: 1, left: 0, wrong: undefined },
      { seed: 2, left: null },
    ],
    none: [],
    empty: {},
  };
  const text = layOut(result);
  t.strictSame(JSON.parse(text), JSON.parse(JSON.stringify(result)));
  t.match(text, '\n    {"seed":1,"left":0},\n    {"seed":2,"left":null}\n');
});
