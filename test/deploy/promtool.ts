import { spawnSync } from 'node:child_process';

const isHere = spawnSync('promtool', ['--version']).status === 0;
const isRequired = process.env.INTERSTICE_REQUIRE_PROMTOOL === '1';

/** Why the tests of expressions cannot run, or false. */
export const lacksPromtool: string | false =
  !isHere && !isRequired && 'promtool is not installed (deploy/install-monitoring-tools.sh)';
