import { EntitySchema, type MigrationInterface, type QueryRunner } from 'typeorm';

export const EXPERIENCE_SCHEMA = 'planner';

/**
 * One row per example. `words` and the embedding, which are searched, are no columns here: nobody reads them as they are. What is JSON is
 * parsed when it is read.
 */
export interface ExperienceRow {
  id: string;
  kind: string;
  request: string;
  tips: object;
  constellation: object;
  source: string;
  learntBy: string;
  learntAt: Date | string;
  /** Calls of a model for a demonstration; those for a run stand in its plan chain. */
  calls: object;
  templates: object;
}

export const ExperienceEntity = new EntitySchema<ExperienceRow>({
  name: 'experience',
  columns: {
    id: { type: 'text', primary: true },
    kind: { type: 'text' },
    request: { type: 'text' },
    tips: { type: 'jsonb' },
    constellation: { type: 'jsonb' },
    source: { type: 'text' },
    learntBy: { name: 'learnt_by', type: 'text' },
    learntAt: { name: 'learnt_at', type: 'timestamptz' },
    calls: { type: 'jsonb' },
    templates: { type: 'jsonb' },
  },
});

/**
 * By hand, because a mapper knows neither generated search vectors nor GIN. `simple` takes words as they are, in every language:
 * A are those of the request, B those of the tips.
 */
export class CreateExperience1763712000000 implements MigrationInterface {
  readonly name = 'CreateExperience1763712000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table ${EXPERIENCE_SCHEMA}.experience (
        id text primary key,
        kind text not null check (kind in ('experience', 'demonstration')),
        request text not null,
        tips jsonb not null,
        constellation jsonb not null,
        source text not null,
        learnt_by text not null,
        learnt_at timestamptz not null,
        calls jsonb not null,
        templates jsonb not null,
        words tsvector not null generated always as (
          setweight(to_tsvector('simple'::regconfig, request), 'A') ||
          setweight(to_tsvector('simple'::regconfig, tips), 'B')
        ) stored
      )`);
    await runner.query(`create index experience_words on ${EXPERIENCE_SCHEMA}.experience using gin (words)`);
    await runner.query(`create index experience_by_time on ${EXPERIENCE_SCHEMA}.experience (learnt_at desc, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table ${EXPERIENCE_SCHEMA}.experience`);
  }
}

/** The embedding of the request: null until it is made, which needs an endpoint for it. Its model names what it can be compared with. */
export class AddEmbedding1763798400000 implements MigrationInterface {
  readonly name = 'AddEmbedding1763798400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table ${EXPERIENCE_SCHEMA}.experience
        add column embedding real[],
        add column embedding_model text,
        add constraint experience_embedding check ((embedding is null) = (embedding_model is null))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table ${EXPERIENCE_SCHEMA}.experience drop column embedding, drop column embedding_model`,
    );
  }
}

export const EXPERIENCE_MIGRATIONS = [CreateExperience1763712000000, AddEmbedding1763798400000];
