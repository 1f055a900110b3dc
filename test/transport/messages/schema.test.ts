import t from 'tap';
import { BULK_FIELDS } from '../../../src/transport/messages/bulk.js';
import { ENUMS, enumShape, MESSAGES, messageShape } from '../../../src/transport/messages/schema.js';

t.test('the table of bulk fields is complete and says what the .proto says', async (t) => {
  const found = new Set<string>();
  for (const message of MESSAGES.values()) {
    for (const field of message.fields) {
      if (field.kind.of !== 'bulk') continue;
      const name = `${message.name}.${field.name}`;
      found.add(name);
      const stated = /^(u?int\d+|float\d+)\[/.exec(field.comment ?? '')?.[1];
      if (name === 'Positions.data') t.equal(field.kind.element, 'scalar');
      else t.equal(field.kind.element, stated, name);
    }
  }
  t.same([...found].sort(), Object.keys(BULK_FIELDS).sort());
});

t.test('names, presence and oneofs come from the .proto', async (t) => {
  const check = messageShape('CheckRequest');
  t.equal(check.byName.get('path_end'), check.byName.get('pathEnd'));
  t.equal(check.byName.get('session_id')?.oneof, 'subject');
  t.equal(check.byName.get('maxPairs')?.oneof, undefined, 'an optional field is no oneof');
  t.equal(check.byName.get('maxPairs')?.hasPresence, true);
  t.equal(messageShape('Report').byName.get('steps')?.hasPresence, false);
  t.equal(messageShape('Report').byName.get('timings')?.hasPresence, true);
  t.equal(enumShape('Status').byNumber.get(4), 'DEADLINE');
  for (const shape of ENUMS.values()) t.equal(shape.byNumber.has(0), true, `${shape.name} has a zero value`);
});

t.test('names outside the contract are a mistake of the program', async (t) => {
  t.throws(() => messageShape('Nothing'), /no message Nothing/);
  t.throws(() => enumShape('Mesh'), /no enum Mesh/);
});
