import { type CreationReply, type EditTrace, type Issue, type Proposal, sentenceOf, type Target } from '#proto';
import { checkTarget, type FleetView, type Run, targetOfTools } from '#libs/constellation';
import { EditStage, type StageCircumstances } from './edit-stage.js';
import { targetWords } from './target-words.js';

/** A proposal without the round that it answers. */
export type ProposedPlan = Omit<Proposal, 'editId' | 'try'>;

export type Planned =
  | { readonly ok: true; readonly proposal: ProposedPlan }
  /** Each a sentence that begins with the path of the field in the reply. */
  | { readonly ok: false; readonly problems: string[] };

const PROBLEMS_MAX = 20;

/**
 * What a reply in creation mode (paper section 5.1) puts to the orchestrator: a whole plan in one batch, or the end without
 * one. Everything that the orchestrator would refuse is a problem here already.
 */
export function planCreation(reply: CreationReply, run: Run, circumstances: StageCircumstances): Planned {
  const { state, constellation, result } = reply;
  const trace = traceOf(reply);
  const common = { baseRevision: run.revision, state, trace };
  if (state !== 'CONTINUE') {
    if (constellation !== null) return problem('constellation', `${state} goes without a constellation`);
    if (result.trim() === '') return problem('result', `${state} needs a result`);
    return { ok: true, proposal: { ...common, edits: [], answer: { text: result, evidence: [] } } };
  }
  if (constellation === null) return problem('constellation', 'CONTINUE needs a constellation');
  const config = { ...constellation, name: constellation.name ?? nameOf(run) };
  const stage = new EditStage(run, circumstances);
  const staged = stage.applyAll([{ tool: 'build_constellation', arguments: { config, clear_existing: true } }]);
  const spare = sparesOf(reply, circumstances.fleet);
  const issues = [...(staged.ok ? [] : staged.violations.map(inReply)), ...spare.issues];
  if (!staged.ok || issues.length > 0) return { ok: false, problems: issues.slice(0, PROBLEMS_MAX).map(sentenceOf) };
  const spares = spare.targets.length === 0 ? {} : { spare: spare.targets };
  return { ok: true, proposal: { ...common, edits: [...staged.edits], ...spares } };
}

/** What was said beside the plan, for the trace of the run (paper section 5.1). */
export function traceOf({ observation, thought, result }: Pick<CreationReply, 'observation' | 'thought' | 'result'>) {
  const said: EditTrace = {
    ...(observation === '' ? {} : { observation }),
    ...(thought === '' ? {} : { thought }),
    ...(result === '' ? {} : { result }),
  };
  return said;
}

export function problem(path: string, message: string): Planned {
  return { ok: false, problems: [sentenceOf({ path, message })] };
}

/** The tool's `config` is the reply's `constellation`. */
export function inReply({ path, message }: Issue): Issue {
  const words = message.replaceAll(/\bconfig\.(?=(?:tasks|dependencies)\[)/gu, 'constellation.');
  return { path: path.replace(/^config/u, 'constellation') || 'constellation', message: words };
}

function sparesOf({ spare }: CreationReply, fleet: FleetView): { targets: Target[]; issues: Issue[] } {
  const targets: Target[] = [];
  const issues: Issue[] = [];
  for (const [index, named] of spare.entries()) {
    const placed = targetOfTools(named);
    if (!placed.ok) {
      issues.push(...placed.issues.map(({ path, message }) => ({ path: `spare[${index}].${path}`, message })));
      continue;
    }
    const { target } = placed;
    if (demandsNothing(target)) {
      const message = 'every device would do, and then nothing bounds what is changed later; say what it must have';
      issues.push({ path: `spare[${index}].target`, message });
      continue;
    }
    const wrong = checkTarget({ id: 'spare', name: 'spare', description: '', tips: [], target }, fleet);
    // What could not be done there now is no matter: nothing is planned for it yet.
    if (wrong?.code !== 'NO_DEVICE') targets.push(target);
    else {
      const field = 'device' in target ? 'target_device_id' : 'target';
      issues.push({ path: `spare[${index}].${field}`, message: targetWords(wrong, target, fleet) });
    }
  }
  return { targets, issues };
}

/** A selector of empty lists. */
function demandsNothing(target: Target): boolean {
  if ('device' in target) return false;
  const { os, capabilities = [], tags = [], resources = {}, where } = target;
  return (
    os === undefined && where === undefined && capabilities.length + tags.length + Object.keys(resources).length === 0
  );
}

const NAME_CHARS_MAX = 80;

/** The first words of the goal. */
function nameOf({ request }: Run): string {
  const [line = ''] = (request?.goal ?? '').trim().split('\n', 1);
  const name = line.length <= NAME_CHARS_MAX ? line : `${line.slice(0, NAME_CHARS_MAX - 3).toWellFormed()}...`;
  return name.trim() === '' ? 'plan' : name;
}
