import type { DataSource, Repository } from 'typeorm';
import { Experience } from '#proto';
import type { Embedding } from '#libs/llm';
import type { Postgres } from '#libs/platform';
import { EXPERIENCE_SCHEMA, ExperienceEntity, type ExperienceRow } from './experience.entity.js';
import {
  bounded,
  EMBEDDED_MAX,
  EXAMPLES_MAX,
  ExperiencesAwayError,
  LISTED_DEFAULT,
  LISTED_MAX,
  RANKED_MAX,
  searchedPart,
  type ExperienceSearch,
  type ExperienceStore,
  type LearntExperience,
  type Nearness,
  type Unembedded,
  LIKENESS_MIN,
  TIP_WEIGHT,
  WEIGHT,
  WORDS_MAX,
} from '../index.js';

const TABLE = `${EXPERIENCE_SCHEMA}.experience`;
const COLUMNS = 'id, kind, request, tips, constellation, source, learnt_by as "learntBy", learnt_at as "learntAt"';

/** `likeness` of likeness.ts in SQL. */
const weightOf = (word: string): string =>
  `least(greatest(char_length(${word}) - ${WEIGHT.freeChars}, ${WEIGHT.least}), ${WEIGHT.most})`;

/**
 * $1: a text that anybody may have written. It never becomes part of a query: PostgreSQL makes lexemes of it, and each one, quoted, an
 * operand. Rows with one of them are found by the index. What decides is how many of the words are shared, not how often one is
 * there, which is all that ts_rank_cd knows of alternatives: that one only orders those that are alike.
 */
const ALIKE = `
  with asked as materialized (
    select lexeme, ${weightOf('lexeme')} as weight
    from unnest(to_tsvector('simple', $1))
    order by char_length(lexeme) desc, lexeme limit ${WORDS_MAX}
  ), query as materialized (
    select sum(weight) as weight,
      string_agg('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''', ' | ')::tsquery as words
    from asked
  )
  select ${COLUMNS}
  from ${TABLE} e cross join query cross join lateral (
    select sum(asked.weight * case when 'A' = any(word.weights) then 1 else ${TIP_WEIGHT} end)
      / sqrt(query.weight * sum(${weightOf('word.lexeme')}) filter (where 'A' = any(word.weights))) as value
    from unnest(e.words) word left join asked on asked.lexeme = word.lexeme
  ) likeness
  where e.words @@ query.words and likeness.value >= $2
  order by likeness.value desc, ts_rank_cd(e.words, query.words) desc, e.learnt_at desc, e.id
  limit $3`;

const NEWEST = `select * from ${TABLE} order by learnt_at desc, id limit ${EMBEDDED_MAX}`;

/** $1: a vector of norm 1, as all that are stored. Computed where the rows are: to bring their vectors here takes as long. */
const NEAREST = `
  select ${COLUMNS}
  from (${NEWEST}) e cross join lateral (
    select sum(own::float8 * asked::float8) as value
    from unnest(e.embedding, $1::real[]) as pair (own, asked)
  ) similarity
  where e.embedding_model = $2 and similarity.value >= $3
  order by similarity.value desc, e.learnt_at desc, e.id
  limit $4`;

/** $1: a model, or null. */
const UNEMBEDDED = `
  select id, request, embedding_model is not null as "hasOther"
  from (${NEWEST}) e
  where embedding_model is null or embedding_model <> $1
  order by learnt_at desc, id`;

const EMBED = `
  with changed as (
    update ${TABLE} set embedding = $3::real[], embedding_model = $4 where id = $1 and request = $2 returning id
  )
  select id from changed`;

/** Any words in common, for those who look for something. */
const ANY_LIKENESS = Number.EPSILON;

/** Table planner.experience. Never waits for a server that is away. */
export class PostgresExperienceStore implements ExperienceStore {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  similar(goal: string, limit = EXAMPLES_MAX): Promise<Experience[]> {
    return this.#alike(goal, LIKENESS_MIN, bounded(limit, RANKED_MAX));
  }

  nearest({ model, vector }: Embedding, { similarityMin, limit = RANKED_MAX }: Nearness): Promise<Experience[]> {
    const values = [Array.from(vector), model, similarityMin, bounded(limit, RANKED_MAX)];
    return this.#with(async (source) => (await source.query<ExperienceRow[]>(NEAREST, values)).map(experienceOf));
  }

  unembedded(model: string | null): Promise<Unembedded[]> {
    return this.#with((source) => source.query<Unembedded[]>(UNEMBEDDED, [model]));
  }

  embed({ id, request }: Pick<Unembedded, 'id' | 'request'>, { model, vector }: Embedding): Promise<boolean> {
    const values = [withoutNul(id), withoutNul(request), Array.from(vector), model];
    return this.#with(async (source) => (await source.query<unknown[]>(EMBED, values)).length > 0);
  }

  list({ text = '', limit = LISTED_DEFAULT }: ExperienceSearch): Promise<Experience[]> {
    const take = bounded(limit, LISTED_MAX);
    if (text.trim() !== '') return this.#alike(text, ANY_LIKENESS, take);
    if (take === 0) return Promise.resolve([]); // to the mapper 0 is no limit
    return this.#rows(async (rows) =>
      (await rows.find({ order: { learntAt: 'DESC', id: 'ASC' }, take })).map(experienceOf),
    );
  }

  find(id: string): Promise<Experience | null> {
    return this.#rows(async (rows) => {
      const row = await rows.findOneBy({ id: withoutNul(id) });
      return row === null ? null : experienceOf(row);
    });
  }

  add(learnt: LearntExperience): Promise<Experience> {
    const row = cleaned(learnt) as ExperienceRow;
    return this.#rows(async (rows) => {
      await rows.createQueryBuilder().insert().values(row).orIgnore().execute();
      return experienceOf((await rows.findOneBy({ id: row.id })) ?? row);
    });
  }

  remove(id: string): Promise<boolean> {
    return this.#rows(async (rows) => ((await rows.delete({ id: withoutNul(id) })).affected ?? 0) > 0);
  }

  #alike(text: string, least: number, limit: number): Promise<Experience[]> {
    const values = [withoutNul(searchedPart(text)), least, limit];
    return this.#with(async (source) => (await source.query<ExperienceRow[]>(ALIKE, values)).map(experienceOf));
  }

  #rows<T>(work: (rows: Repository<ExperienceRow>) => Promise<T>): Promise<T> {
    return this.#with((source) => work(source.getRepository(ExperienceEntity)));
  }

  /** A caller hears when the server is away; every other failure is a fault of ours, and stays one. */
  async #with<T>(work: (source: DataSource) => Promise<T>): Promise<T> {
    if (!this.#postgres.isReady()) throw new ExperiencesAwayError();
    try {
      return await work(await this.#postgres.ready());
    } catch (error) {
      const answers = await this.#postgres.check().then(
        () => true,
        () => false,
      );
      throw answers ? error : new ExperiencesAwayError({ cause: error });
    }
  }
}

export function openExperienceStore(postgres: Postgres): ExperienceStore {
  return new PostgresExperienceStore(postgres);
}

function experienceOf(row: ExperienceRow): Experience {
  const { id, kind, request, tips, constellation, source, learntBy, learntAt: at } = row;
  const learntAt = at instanceof Date ? at.toISOString() : at;
  return Experience.parse({ id, kind, request, tips, constellation, source, learntBy, learntAt });
}

/** The one character that PostgreSQL cannot hold; an example is as good without it. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '').toWellFormed();
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutNul(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [withoutNul(key), cleaned(item)]));
}
