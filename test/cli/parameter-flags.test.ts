import { Command } from 'commander';
import t from 'tap';
import {
  addParameterFlags,
  flagNameOf,
  PARAMETER_FLAGS,
  parseChoice,
  parseCount,
  parseNumber,
  pickParameters,
} from '../../src/cli/parameter-flags.js';
import type { Parameters } from '../../src/contract/parameters.js';
import { defaultsOf } from '../../src/solver/parameters.js';
import { messageShape } from '../../src/transport/messages/schema.js';

const fields = Object.keys(PARAMETER_FLAGS) as (keyof Parameters)[];

function parse(...argv: string[]): object {
  const command = addParameterFlags(
    new Command().exitOverride().configureOutput({ writeErr: () => {} }),
    'Parameters:',
  );
  command.parse(argv, { from: 'user' });
  return pickParameters(command.opts());
}

t.test('there is a flag for every parameter of the contract, in its order', async (t) => {
  t.strictSame(
    fields,
    messageShape('Parameters').fields.map((field) => field.jsonName),
  );
});

t.test('the defaults that are told are those of the solver', async (t) => {
  for (const preset of ['TUNED', 'PAPER'] as const) {
    for (const [field, value] of Object.entries(defaultsOf(preset))) {
      const { defaultText } = PARAMETER_FLAGS[field as keyof Parameters];
      if (field === 'preset') continue;
      const told =
        preset === 'PAPER' ? (/paper: ([^\s;]+)/.exec(defaultText)?.[1] ?? defaultText) : defaultText.split(';')[0];
      t.equal(told, String(value).toLowerCase().replaceAll('_', '-'), `${preset} ${field}`);
    }
  }
});

t.test('every parameter can be set', async (t) => {
  for (const field of fields) {
    const row = PARAMETER_FLAGS[field];
    const samples = row.kind === 'choice' ? row.choices : ['3'];
    for (const sample of samples) {
      const expected = row.kind === 'choice' ? sample : 3;
      t.strictSame(parse(`--${flagNameOf(field)}`, sample), { [field]: expected }, `${field} ${sample}`);
    }
  }
});

t.test('flags that are not given set nothing', async (t) => {
  t.strictSame(parse(), {});
});

t.test('numbers are parsed strictly', async (t) => {
  t.equal(parseNumber('1e-3'), 0.001);
  t.equal(parseNumber('-2.5'), -2.5);
  for (const text of ['', ' ', 'abc', '1mm', 'NaN', 'Infinity', '1e999', '0,5']) {
    t.throws(() => parseNumber(text), { message: /number is needed/ }, JSON.stringify(text));
  }
  t.equal(parseCount('0'), 0);
  t.equal(parseCount('007'), 7);
  for (const text of ['', '-1', '1.5', '1e3', 'x', '99999999999999999999']) {
    t.throws(() => parseCount(text), { message: /whole number/ }, JSON.stringify(text));
  }
});

t.test('choices are taken in any spelling of the name and refused with the list', async (t) => {
  const parseStart = parseChoice(['REJECT', 'IGNORE_PAIRS']);
  for (const text of ['ignore-pairs', 'IGNORE_PAIRS', 'Ignore-Pairs', 'ignore_pairs']) {
    t.equal(parseStart(text), 'IGNORE_PAIRS', text);
  }
  t.throws(() => parseStart('ignore'), { message: 'Choose one of: reject, ignore-pairs.' });
});

t.test('a wrong value is refused by the flag with its name', async (t) => {
  t.throws(() => parse('--step-limit', '1.5'), { code: 'commander.invalidArgument', message: /--step-limit/ });
});

t.test('every flag tells its default, and every number its range', async (t) => {
  for (const field of fields) {
    const row = PARAMETER_FLAGS[field];
    t.not(row.defaultText, '', `${field} has a default`);
    if (row.kind !== 'choice') t.not(row.range, '', `${field} has a range`);
  }
});
