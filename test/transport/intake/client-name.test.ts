import t from 'tap';
import { addressGroup, clientName } from '../../../src/transport/intake/client-name.js';

t.test('a key counts by its tenant, everyone else by address', async (t) => {
  const caller = { tenant: 'acme', maxPriority: 'NORMAL' } as const;
  t.equal(clientName(caller, '10.0.0.1'), 'tenant acme');
  t.equal(clientName(undefined, '10.0.0.1'), 'address 10.0.0.1');
  t.equal(clientName(undefined, undefined), 'address unknown', 'the connection is gone');
  t.not(clientName({ ...caller, tenant: '10.0.0.1' }, undefined), clientName(undefined, '10.0.0.1'));
});

t.test('the addresses that one host may use count as one', async (t) => {
  t.equal(addressGroup('::ffff:10.0.0.1'), '10.0.0.1', 'IPv4 on a socket of IPv6');
  const group = '2001:db8:0:1::/64';
  for (const address of [
    '2001:db8:0:1::5',
    '2001:0DB8:0000:0001:9:8:7:6',
    '2001:db8:0:1:ffff::',
    '2001:db8:0:1::5%eth0',
  ])
    t.equal(addressGroup(address), group, address);
  t.not(addressGroup('2001:db8:0:2::5'), group);
  t.equal(addressGroup('::1'), '0:0:0:0::/64');
  t.equal(addressGroup('1::'), '1:0:0:0::/64');
});
