import {
  type ConstellationSnapshot,
  type ConstellationToolCall,
  type Edit,
  type EditViolation,
  type Issue,
  LIMITS,
  type LineResult,
  type Target,
} from '#proto';
import {
  type Applied,
  applyEdits,
  checkTarget,
  editOfCall,
  evolve,
  type FleetView,
  Judge,
  judgeOwed,
  jsonBytes,
  KnownTruths,
  outOfScope,
  type Run,
  snapshotOf,
  undecidedOwed,
  violationOfCall,
} from '#libs/constellation';
import { targetWords } from './target-words.js';

type Valid = Extract<Applied, { ok: true }>;

export interface StageCircumstances {
  readonly fleet: FleetView;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type Staged =
  | { readonly ok: true; readonly snapshot: ConstellationSnapshot }
  | { readonly ok: false; readonly violations: EditViolation[] };

export type StagedAll =
  | { readonly ok: true; readonly edits: readonly Edit[] }
  /** `call`: position of the call that a violation is about; undefined for all of them together. */
  | { readonly ok: false; readonly violations: readonly (EditViolation & { readonly call?: number })[] };

/**
 * A private copy of a run's constellation on which a model's calls of the seven tools are tried (paper section 5.3). Each call
 * is idempotent; one that is refused leaves the copy as it was. What it takes, the orchestrator takes for the same revision.
 */
export class EditStage {
  readonly #circumstances: StageCircumstances;
  /** The revision that was staged on. */
  readonly #revision: number;
  readonly #scope: readonly Target[] | null;
  #edits: readonly Edit[] = [];
  #run: Run;

  constructor(run: Run, circumstances: StageCircumstances) {
    this.#run = run;
    this.#revision = run.revision;
    this.#scope = run.scope;
    this.#circumstances = circumstances;
  }

  /** What has been taken so far, in order: one batch for a proposal. A call that changed nothing is not among it. */
  get edits(): readonly Edit[] {
    return this.#edits;
  }

  /** The run as it would be after `edits`. */
  get run(): Run {
    return this.#run;
  }

  snapshot(): ConstellationSnapshot {
    return snapshotOf(this.#run);
  }

  /** Paths of violations lead into the call's arguments. */
  apply(call: ConstellationToolCall): Staged {
    const staged = this.applyAll([call]);
    if (staged.ok) return { ok: true, snapshot: this.snapshot() };
    return { ok: false, violations: staged.violations.map(({ code, path, message }) => ({ code, path, message })) };
  }

  /** Several calls, all or nothing: only what they lead to together has to be valid. `edits`: one for each call. */
  applyAll(calls: readonly ConstellationToolCall[]): StagedAll {
    const name = this.#run.graph.name;
    const made = calls.map((call) => (name === '' ? editOfCall(call) : editOfCall(call, name)));
    const refused = made.flatMap((one, call) =>
      one.ok ? [] : one.issues.map((issue) => ({ ...invalid(issue), call })),
    );
    if (refused.length > 0) return { ok: false, violations: refused };
    const edits = made.flatMap((one) => (one.ok ? [one.edit] : []));
    const violations = this.#stage(edits);
    return violations.length === 0 ? { ok: true, edits } : { ok: false, violations };
  }

  /** Takes the edits, or says why not. */
  #stage(edits: readonly Edit[]): readonly (EditViolation & { readonly call?: number })[] {
    const size = tooLarge([...this.#edits, ...edits]);
    if (size !== undefined) return [size];
    const applied = applyEdits(this.#run, edits, this.#circumstances.now, true);
    if (!applied.ok) return applied.violations.map((violation) => toldOfCall(violation, edits));
    // What takes time to judge is left to the orchestrator: until then such a line is not judged.
    const lines = judgeOwed(applied, new Judge(new KnownTruths()));
    const violations = [...this.#misdirected(applied), ...undecidedOwed(applied, lines)];
    if (violations.length > 0) return violations.map((violation) => toldOfCall(violation, edits));
    if (applied.staging.changed) {
      this.#edits = [...this.#edits, ...edits];
      this.#run = this.#afterwards(edits, applied, lines);
    }
    return [];
  }

  /** What would run where the plan was not made for, and what no device could ever do. */
  #misdirected(applied: Extract<Applied, { ok: true }>): EditViolation[] {
    const { fleet } = this.#circumstances;
    const { staging, defined } = applied;
    const impossible = [...defined].flatMap(([index, path]): EditViolation[] => {
      const { star } = staging.task(index);
      if (staging.positionOfTask(star.id) === undefined) return [];
      const issue = checkTarget(star, fleet);
      if (issue === undefined) return [];
      return [{ code: issue.code, path: `${path}.${issue.path}`, message: targetWords(issue, star.target, fleet) }];
    });
    return [...outOfScope(applied, this.#scope, fleet), ...impossible];
  }

  /** By the fold that the orchestrator's commit would go through. */
  #afterwards(edits: readonly Edit[], { staging }: Valid, judged: readonly LineResult[]): Run {
    const { tasks, lines } = staging.counts;
    const modifiedAt = new Date(this.#circumstances.now).toISOString();
    const revision = this.#revision + 1;
    return evolve(this.#run, {
      type: 'CONSTELLATION_MODIFIED',
      data: {
        revision,
        origin: 'planner',
        tasks,
        lines,
        modifiedAt,
        edits: [...edits],
        judged: [...judged],
        judgeCommands: true,
      },
    });
  }
}

/** A violation of the batch as a whole, or one of a call's arguments. */
function toldOfCall(violation: EditViolation, edits: readonly Edit[]): EditViolation & { call?: number } {
  const call = Number(/^edits\[(\d+)\]/u.exec(violation.path)?.[1] ?? (edits.length === 1 ? 0 : -1));
  const edit = edits[call];
  return edit === undefined ? { ...violation, path: '' } : { ...violationOfCall(violation, edit), call };
}

function tooLarge(edits: readonly Edit[]): EditViolation | undefined {
  const refuse = (message: string): EditViolation => ({ code: 'TOO_LARGE', path: '', message });
  if (edits.length > LIMITS.editsMax) {
    return refuse(`there would be ${edits.length} edits; at most ${LIMITS.editsMax} are taken at a time`);
  }
  const bytes = jsonBytes(edits);
  if (bytes <= LIMITS.editBytesMax) return undefined;
  return refuse(`the edits would have ${bytes} bytes as JSON; at most ${LIMITS.editBytesMax} are taken at a time`);
}

function invalid({ path, message }: Issue): EditViolation {
  return { code: 'INVALID_INPUT', path, message };
}
