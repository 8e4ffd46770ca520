import { parseVerbFields } from '#libs/messaging';
import type { Issue, Proposal } from '#proto';
import { parseText, sentencesOf } from '../../files/index.js';

/** What the command line says of a proposal; it wins over the file. */
export type ProposalWords = Partial<Pick<Proposal, 'editId' | 'try' | 'baseRevision'>>;

export type ProposalFile =
  | { readonly ok: true; readonly proposal: Proposal }
  | { readonly ok: false; readonly message: string; readonly issues: readonly Issue[] };

/** Reads what a person or a program wrote, JSON or YAML, into a proposal: a whole one, or an array of edits. */
export function parseProposalText(text: string, words: ProposalWords): ProposalFile {
  const document = parseText(text, 'proposal');
  if (!document.ok) return { ok: false, message: document.message, issues: [] };
  const { value } = document;
  if (typeof value !== 'object' || value === null) {
    return { ok: false, message: 'a proposal is an object with "edits", or an array of edits', issues: [] };
  }
  const whole = Array.isArray(value) ? { edits: value as unknown[] } : value;
  const parsed = parseVerbFields('PROPOSE', { proposal: { ...whole, ...words } });
  if (parsed.ok) return { ok: true, proposal: parsed.value.proposal };
  const issues = parsed.issues.map(({ path, message }) => ({ path: path.replace(/^proposal\.?/u, ''), message }));
  return { ok: false, message: sentencesOf(issues), issues };
}
