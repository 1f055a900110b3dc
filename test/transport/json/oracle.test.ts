import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../../src/paths.js';
import { decodeJson } from '../../../src/transport/json/decode.js';
import { encodeJson } from '../../../src/transport/json/encode.js';
import { parseJsonText } from '../../../src/transport/json/parse.js';
import { decodeMessage } from '../../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';

/** What google's own mapping did, recorded by `record.py` beside the file. */
interface Recorded {
  readonly message: string;
  readonly json: string;
  /** either this, in hex, and the message as JSON with every default, */
  readonly bytes?: string;
  readonly again?: object;
  /** or this */
  readonly refused?: string;
}

const path = join(projectRoot, 'test', 'transport', 'recorded', 'json-format.json');
const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly Recorded[] };

/** Where this service differs on purpose, and how: by the JSON text. */
const STRICTER: Readonly<Record<string, RegExp>> = {
  '{"kinematic": "*"}': /not valid base64/,
  '{"override": []}': /is an array/,
  '[]': /is an array/,
};

t.test('the JSON mapping is that of google.protobuf', async (t) => {
  t.ok(cases.length >= 60);
  t.ok(cases.some(({ refused }) => refused) && cases.some(({ bytes }) => bytes));
  for (const { message: name, json, bytes, again, refused } of cases) {
    const title = `${name} ${json}`;
    const read = () => decodeJson(name, parseJsonText(json)).message;
    if (STRICTER[json]) {
      t.throws(read, { message: STRICTER[json] }, title);
    } else if (refused) {
      t.throws(read, { name: 'IntersticeError' }, title);
    } else {
      t.doesNotThrow(read, title);
      const body = encodeMessage(name, read());
      t.equal(Buffer.from(body).toString('hex'), bytes, title);
      const back = encodeJson(name, decodeMessage(name, body), { arrays: false });
      t.same(JSON.parse(JSON.stringify(back)), again, `${title}, back`);
    }
  }
});
