import { existsSync } from 'node:fs';
import { UsageError } from '../exit-codes.js';

interface Benchmark {
  main(argv: string[]): Promise<number>;
}

/**
 * Beside the compiled src folder of a checkout. The published package omits it, so it cannot be imported statically.
 */
const benchmark = new URL('../../../bench/run.js', import.meta.url);

/** `interstice bench …`: passes its arguments to the benchmark and returns the benchmark's exit code. */
export async function runBench(argv: readonly string[], location: URL = benchmark): Promise<number> {
  if (!existsSync(location)) {
    throw new UsageError(
      'The benchmark is not built here. The package does not contain it; in a clone of the repository, run: npm run bench -- ARGUMENTS',
    );
  }
  const { main } = (await import(location.href)) as Benchmark;
  return main([...argv]);
}
