#!/usr/bin/env node
import { openBackend } from './open-backend.js';
import { runCli } from './run.js';
import { processTerminal } from './terminal.js';

const terminal = processTerminal();

// Not process.exit(): what was written to a pipe must still arrive.
process.exitCode = await runCli(process.argv.slice(2), {
  terminal,
  openBackend: (choice) => openBackend(choice, terminal),
});
