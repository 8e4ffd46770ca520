import { badInput, type ExitCode, type CliContext } from '../../terminal/index.js';
import { readRequestFile } from '../../files/index.js';
import { parseProposalText, type ProposalWords } from './proposal-file.js';
import { say, type ControlOptions } from './control.runner.js';

export interface ProposeOptions extends ControlOptions {
  readonly file: string;
  readonly proposal: ProposalWords;
}

/** Hands in an edit: of an operator, or the answer of a program to the round that is open. */
export async function propose(context: CliContext, run: string, options: ProposeOptions): Promise<ExitCode> {
  const { file } = options;
  const parsed = parseProposalText(await readRequestFile(file), options.proposal);
  if (!parsed.ok) throw badInput(`${file === '-' ? '' : `${file}: `}${parsed.message}`, parsed.issues);
  return say(context, run, { verb: 'PROPOSE', fields: { proposal: parsed.proposal }, words: options });
}
