import { stringify } from 'yaml';
import { cleanLine, cleanText, type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { findPolicy, policyOf } from './policy-file.adapter.js';
import { effectivePolicy } from './policy-text.js';

/** Whether a file is a policy. @throws CliError bad input that names every field that is wrong. */
export async function checkPolicy(context: CliContext, path: string): Promise<ExitCode> {
  const found = await findPolicy(context.env, path);
  const { hash } = await policyOf(found);
  return tell(context, { valid: true, policyHash: hash }, `${cleanLine(found.name)} is a policy (${hash})`);
}

/** The policy that holds, in the form of a file. */
export async function showPolicy(context: CliContext, path: string | undefined): Promise<ExitCode> {
  const found = await findPolicy(context.env, path);
  const policy = effectivePolicy(found.file);
  const { hash } = await policyOf(found);
  return tell(
    context,
    { source: found.name, policyHash: hash, policy },
    cleanText(`# ${cleanLine(found.name)} (${hash})\n${stringify(policy).trimEnd()}`),
  );
}
