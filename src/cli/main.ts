#!/usr/bin/env node
import { openBackend, runCli } from './run.js';
import { processTerminal } from './terminal.js';

const terminal = processTerminal();

// process.exit() would drop output that a pipe has not accepted yet.
process.exitCode = await runCli(process.argv.slice(2), {
  terminal,
  openBackend: (choice, command) => openBackend(choice, terminal, command),
});
