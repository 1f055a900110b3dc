import { bodiesBeyondMemory } from '../failures/body-flood.js';
import type { Mutant } from './mutant.js';

const LEDGER = 'src/transport/intake/body-ledger.js';

/** Faults in the ledger of request bodies. */
export const INTAKE_MUTANTS: readonly Mutant[] = [
  {
    name: 'ledger-refuses-nothing',
    description: 'a body may grow whatever the others have, so that promises exceed the memory for bodies',
    faults: [{ file: LEDGER, function: 'BodyLedger.objectionTo', instead: () => undefined }],
    scenes: [],
    failure: bodiesBeyondMemory,
    caughtBy: ['bytes of bodies are let in'],
    isVerified: true,
  },
  {
    name: 'ledger-never-releases',
    description: 'the bytes of a body stay charged when its request has ended',
    faults: [{ file: LEDGER, function: 'BodyAccount.release', instead: () => undefined }],
    scenes: [],
    failure: bodiesBeyondMemory,
    caughtBy: ['bytes are still charged', 'a small request is refused'],
    isVerified: true,
  },
];
