import { SERVICES } from '../../processes/index.js';
import { EXIT, printJson, type CliCommand, type CliContext, type ExitCode } from '../../terminal/index.js';
import { bashCompletion } from './bash-completion.js';
import { commandsIn } from './command-words.js';
import { fishCompletion } from './fish-completion.js';
import { manPage } from './man-page.js';
import type { Shell } from './shells.js';
import { zshCompletion } from './zsh-completion.js';

const KNOWN = { service: [...SERVICES, 'nats', 'postgres'] };
const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export async function completion(context: CliContext, program: CliCommand, shell: Shell): Promise<ExitCode> {
  const script = SCRIPTS[shell](commandsIn(program, KNOWN));
  if (context.json) printJson(context, { shell, script });
  else context.terminal.out(script);
  return EXIT.ok;
}

export async function manual(context: CliContext, program: CliCommand): Promise<ExitCode> {
  const page = manPage(commandsIn(program));
  if (context.json) printJson(context, { page });
  else context.terminal.out(page);
  return EXIT.ok;
}
