import { existsSync } from 'node:fs';
import { UsageError } from '../exit-codes.js';

interface Benchmark {
  main(argv: string[]): Promise<number>;
}

/** Beside the compiled src folder of a checkout. The published package leaves it out, so nothing may import it statically. */
const benchmark = new URL('../../../bench/run.js', import.meta.url);

/** `interstice bench …`: hands its arguments to the benchmark and gives its exit code. */
export async function runBench(argv: readonly string[], location: URL = benchmark): Promise<number> {
  if (!existsSync(location)) {
    throw new UsageError(
      'the benchmark is not installed with the package. Clone the repository and use: npm run bench -- ARGUMENTS',
    );
  }
  const { main } = (await import(location.href)) as Benchmark;
  return main([...argv]);
}
