import { openEcho } from './echo.js';

/** A process of its own, like the service: says where it listens, and ends when its input does. */
const echo = await openEcho();
process.stdout.write(`${JSON.stringify({ address: echo.address, grpcAddress: echo.grpcAddress })}\n`);
process.stdin.resume();
process.stdin.once('end', () => void echo.close());
