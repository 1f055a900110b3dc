import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseAnswer } from '../../src/client/wire.js';
import { projectRoot } from '../../src/paths.js';
import { MESSAGES } from '../../src/transport/messages/schema.js';

/** Of requests, of streams over gRPC, and a list, which is converted where it is read. */
const OTHERS = ['afterFrame', 'sequence', 'piercesByIteration'];

t.test('every 64-bit count of the contract is a number to the clients', async (t) => {
  const fields = [...MESSAGES.values()].flatMap(({ fields }) => [...fields]);
  const names = new Set(
    fields.filter(({ kind }) => kind.of === 'scalar' && kind.type === 'uint64').map(({ jsonName }) => jsonName),
  );
  const python = readFileSync(join(projectRoot, 'clients/python/interstice/types.py'), 'utf8');
  const known = new Set(/_COUNTS = frozenset\(([^)]*)\)/.exec(python)?.[1]?.match(/\w+/g));
  t.ok(names.size > 40, `${names.size} names`);
  for (const name of names) {
    if (OTHERS.includes(name)) continue;
    t.same(parseAnswer(`{"${name}":"7"}`), { [name]: 7 }, `TypeScript: ${name}`);
    t.ok(known.has(name), `Python: ${name}`);
  }
  for (const name of OTHERS) t.ok(names.has(name), name);
});
