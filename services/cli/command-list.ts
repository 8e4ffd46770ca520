// Every command with its words, its help and its examples. What a command does is loaded when it is called, so that help
// and the commands that work on files do not wait for the libraries of the others.
import type { Command } from 'commander';
import { defineApprovals } from './approval-commands.js';
import type { Run } from './command-definition.js';
import { defineControl, defineEdits } from './control-commands.js';
import { defineDeadLetters } from './dead-letter-commands.js';
import { defineClients, defineDevices } from './device-commands.js';
import { defineExperience } from './experience-commands.js';
import { defineHistory } from './history-commands.js';
import { defineMcp } from './mcp-commands.js';
import { defineArtifacts, defineOutput } from './output-commands.js';
import { definePlans } from './plan-commands.js';
import { definePolicy } from './policy-commands.js';
import { defineRequests, defineRuns } from './request-commands.js';
import { defineRunbooks } from './runbook-commands.js';
import { defineSystem } from './system-commands.js';

/** In the order in which the help lists them. */
export function defineCommands(program: Command, run: Run): void {
  defineSystem(program, run);
  defineRequests(program, run);
  defineOutput(program, run);
  defineRuns(program, run);
  defineControl(program, run);
  defineEdits(program, run);
  defineApprovals(program, run);
  defineHistory(program, run);
  definePlans(program, run);
  defineDevices(program, run);
  defineClients(program, run);
  defineDeadLetters(program, run);
  defineArtifacts(program, run);
  definePolicy(program, run);
  defineRunbooks(program, run);
  defineExperience(program, run);
  defineMcp(program, run);
}
