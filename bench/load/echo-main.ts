import { openEcho } from './echo.js';

/** A process of its own, like the service: prints the addresses of its echoes, and ends when its input does. */
const [echo, late] = await Promise.all([openEcho(), openEcho({ isLate: true })]);
const addressesOf = ({ address, grpcAddress }: typeof echo) => ({ address, grpcAddress });
process.stdout.write(`${JSON.stringify({ echo: addressesOf(echo), late: addressesOf(late) })}\n`);
process.stdin.resume();
process.stdin.once('end', () => void Promise.all([echo.close(), late.close()]));
