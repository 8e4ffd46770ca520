// Every command with its words, its help and its examples. What a command does is loaded when it is called, so that help
// and the commands that work on files do not wait for the libraries of the others.
import { defineAccess } from './access/index.js';
import { defineAttention } from './attention/index.js';
import { defineConsole } from './console/index.js';
import { defineContexts } from './contexts/index.js';
import { defineApprovals, defineControl } from './control/index.js';
import type { CliCommand } from '../terminal/index.js';
import { defineDeadLetters } from './dead-letters/index.js';
import { defineClients, defineDevices } from './devices/index.js';
import { defineDoctor } from './doctor/index.js';
import { defineExperience } from './experience/index.js';
import { defineHistory, definePlans } from './history/index.js';
import { defineLogs } from './logs/index.js';
import { defineMcp } from './mcp/index.js';
import { defineMetrics } from './metrics/index.js';
import { defineArtifacts, defineOutput } from './output/index.js';
import { definePeople, defineTokens } from './people/index.js';
import { definePolicy } from './policy/index.js';
import { defineReference } from './reference/index.js';
import { defineRequests, defineRuns } from './requests/index.js';
import { defineRunbooks } from './runbooks/index.js';
import { defineSearch } from './search/index.js';
import { defineSettings } from './settings/index.js';
import { defineSystem } from './system/index.js';

/** In the order in which the help lists them. */
export function defineCommands(program: CliCommand): void {
  defineSystem(program);
  defineConsole(program);
  defineAttention(program);
  defineLogs(program);
  defineDoctor(program);
  defineRequests(program);
  defineOutput(program);
  defineRuns(program);
  defineSearch(program);
  defineMetrics(program);
  defineControl(program);
  defineApprovals(program);
  defineHistory(program);
  definePlans(program);
  defineDevices(program);
  defineClients(program);
  definePeople(program);
  defineTokens(program);
  defineAccess(program);
  defineDeadLetters(program);
  defineArtifacts(program);
  definePolicy(program);
  defineSettings(program);
  defineRunbooks(program);
  defineExperience(program);
  defineMcp(program);
  defineContexts(program);
  defineReference(program);
}
