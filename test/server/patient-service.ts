import { openOperations } from '../../src/cli/local.js';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/server/server.js';

/**
 * The service as `interstice serve` composes it, a program of its own. It has minutes, and not seconds, to return what
 * running work has reached: threads of resolves give way to everything else on a machine, also to what has nothing to
 * do with the test.
 */
const WRAP_UP_SECONDS = 200;

const config = readConfig(process.env);
const operations = await openOperations(config, () => {}, {});
await startServer(config, operations, { wrapUpSeconds: WRAP_UP_SECONDS });
