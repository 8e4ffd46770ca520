import type { DataSource, EntityManager } from 'typeorm';
import { AttemptCommit, attemptOfSubject, parseWith, sentenceOf } from '#proto';
import type { StreamEntry } from '#libs/event-log';
import type { Clock } from '#libs/platform';
import { commandRowsOf, endOf, lastByKey, type AttemptEnd } from './attempt-rows.js';
import type { DeadLetters } from './dead-letter.adapter.js';
import { AttemptEntity, CommandEntity, DeadLetterEntity, type CommandRow } from './entities/index.js';
import type { Prepared, Projection } from './follow.projector.js';
import { parseJson } from './json.js';
import { upsertRows } from './write.adapter.js';

export interface AttemptsOptions {
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
}

/** ATTEMPTS -> table command and the end of attempts. Every commit says it all, so no state is folded. */
export class AttemptsProjection implements Projection {
  readonly stream = 'ATTEMPTS';
  private readonly options: AttemptsOptions;
  private readonly buried = new Set<number>();

  constructor(options: AttemptsOptions) {
    this.options = options;
  }

  async begin(source: DataSource): Promise<void> {
    const letters = await source.getRepository(DeadLetterEntity).findBy({ stream: this.stream });
    for (const { sequence } of letters) this.buried.add(sequence);
  }

  async prepare(entries: readonly StreamEntry[], refused?: string): Promise<Prepared> {
    const ends: AttemptEnd[] = [];
    const commands: CommandRow[] = [];
    const bad: { entry: StreamEntry; reason: string }[] = [];
    for (const entry of entries) {
      const commit = refused ?? parse(entry);
      if (typeof commit === 'string') {
        bad.push({ entry, reason: commit });
        continue;
      }
      const end = endOf(entry.subject, commit);
      if (end !== undefined) ends.push(end);
      commands.push(...commandRowsOf(commit, entry.sequence));
    }
    return {
      write: async (manager) => {
        await upsertRows(manager, AttemptEntity, lastByKey(ends));
        await upsertRows(manager, CommandEntity, commands);
        for (const { entry, reason } of bad) await this.bury(manager, entry, reason);
      },
      applied: () => undefined,
    };
  }

  /** Last of all, when nothing else can be refused. */
  private async bury(manager: EntityManager, entry: StreamEntry, reason: string): Promise<void> {
    const { stream } = this;
    const { sequence } = entry;
    const at = new Date(this.options.clock.now()).toISOString();
    await upsertRows(manager, DeadLetterEntity, [{ stream, sequence, reason, at }]);
    if (!this.buried.has(sequence)) await this.options.deadLetters.bury(stream, entry, reason);
    this.buried.add(sequence);
  }
}

function parse(entry: StreamEntry): AttemptCommit | string {
  const parsed = parseWith(AttemptCommit, parseJson(entry.data));
  if (!parsed.ok) return parsed.issues.map(sentenceOf).join('; ');
  const { runId, taskId, attempt } = parsed.value;
  const key = attemptOfSubject(entry.subject);
  const same = key?.runId === runId && key.taskId === taskId && key.attempt === attempt;
  return same ? parsed.value : `it says that it belongs to ${runId} ${taskId} ${attempt}`;
}
