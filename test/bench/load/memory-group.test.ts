import { spawnSync } from 'node:child_process';
import t from 'tap';
import { MemoryGroup } from '../../../bench/load/memory-group.js';

const MiB = 1 << 20;

/** undefined where this process may not make control groups: containers and users without rights. */
function tryCreate(bytes: number): MemoryGroup | undefined {
  try {
    return MemoryGroup.create(bytes);
  } catch (thrown) {
    t.comment((thrown as Error).message);
    return undefined;
  }
}

t.test('a process in the group ends when it needs more memory than the limit', async (t) => {
  const group = tryCreate(128 * MiB);
  if (!group) {
    t.pass('no control groups here');
    return;
  }
  t.teardown(() => group.remove());
  const fill = (megabytes: number) => {
    const [command = '', ...args] = [...group.launcher, process.execPath, '-e', `Buffer.alloc(${megabytes * MiB}, 1)`];
    return spawnSync(command, args);
  };
  t.equal(fill(10).status, 0);
  t.ok(group.peakBytes > 10 * MiB && group.peakBytes <= 128 * MiB, `${group.peakBytes} bytes`);
  t.equal(group.kills, 0);
  t.equal(fill(300).signal, 'SIGKILL');
  t.ok(group.kills > 0);
});
