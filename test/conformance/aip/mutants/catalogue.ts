import { COMMAND_MUTANTS } from './commands.js';
import { CONSTELLATION_MUTANTS } from './constellation.js';
import type { Mutant } from './mutant.js';
import { REVISION_2_MUTANTS } from './revision-2.js';
import { SESSION_MUTANTS } from './session.js';
import { WIRE_MUTANTS } from './wire.js';

/** Every gateway that is broken on purpose; each check has one at least that it must find. */
export const MUTANTS: readonly Mutant[] = [
  ...WIRE_MUTANTS,
  ...SESSION_MUTANTS,
  ...COMMAND_MUTANTS,
  ...CONSTELLATION_MUTANTS,
  ...REVISION_2_MUTANTS,
];
