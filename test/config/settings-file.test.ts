import t, { type Test } from 'tap';
import { readSettingsFile } from '../../src/config/settings-file.js';

const KNOWN = new Set(['INTERSTICE_A', 'INTERSTICE_B', 'INTERSTICE_C']);
const FLAGS = new Set(['INTERSTICE_C']);
const read = (t: Test, content: string) => readSettingsFile(`${t.testdir({ file: content })}/file`, KNOWN, FLAGS);

t.test('a settings file may have lines of NAME=value', async (t) => {
  const { values, problems } = read(
    t,
    '\uFEFF# mine\r\n\r\nINTERSTICE_A=1\r\n  INTERSTICE_B = "two # words"\nINTERSTICE_C=',
  );
  t.same(problems, []);
  t.same(values, { INTERSTICE_A: '1', INTERSTICE_B: 'two # words', INTERSTICE_C: '' });
});

t.test('a settings file may be a JSON object', async (t) => {
  const { values, problems } = read(t, '\n {"INTERSTICE_A": 1.5, "INTERSTICE_B": "x", "INTERSTICE_C": true}');
  t.same(problems, []);
  t.same(values, { INTERSTICE_A: '1.5', INTERSTICE_B: 'x', INTERSTICE_C: '1' });
});

t.test('every invalid line or value is reported', async (t) => {
  const cases: [string, RegExp[]][] = [
    ['INTERSTICE_A', [/line 1: expected NAME=value/]],
    ['export INTERSTICE_A=1', [/line 1: expected NAME=value/]],
    ['INTERSTICE_A=1\nPATH=/bin', [/line 2: there is no setting PATH/]],
    ['INTERSTICE_A=1\nINTERSTICE_A=1', [/line 2: INTERSTICE_A is set twice/]],
    ['{"INTERSTICE_A": 1, "INTERSTICE_B": "INTERSTICE_A", "INTERSTICE_\\u0041": 2}', [/INTERSTICE_A is set twice/]],
    ['{"INTERSTICE_A": 1', [/begins like JSON but is not valid JSON/]],
    ['{"INTERSTICE_A": false, "INTERSTICE_C": false}', [/INTERSTICE_A cannot be true or false/]],
    [
      '{"INTERSTICE_A": null, "INTERSTICE_B": [1], "X": 1}',
      [/INTERSTICE_A must be/, /INTERSTICE_B must be/, /no setting X/],
    ],
  ];
  for (const [content, expected] of cases) {
    const { problems } = read(t, content);
    t.equal(problems.length, expected.length, content);
    for (const pattern of expected) t.match(problems.join('\n'), pattern);
  }
});
