import { Client } from 'pg';
import { z } from 'zod';

const ANSWER_MS_MAX = 4_000;

const Row = z.object({ version: z.string(), bytes: z.coerce.number() });

/** What a database says of itself. */
export type PostgresLook = z.infer<typeof Row>;

/** Asks the database at this address (with its password) for its version and its size. Throws when it does not answer, or refuses. */
export async function lookAtPostgres(connectionString: string): Promise<PostgresLook> {
  const client = new Client({ connectionString, connectionTimeoutMillis: ANSWER_MS_MAX, query_timeout: ANSWER_MS_MAX });
  client.on('error', () => undefined); // said by the query that meets it
  try {
    await client.connect();
    const { rows } = await client.query(
      `select current_setting('server_version') as version, pg_database_size(current_database()) as bytes`,
    );
    return Row.parse(rows[0]);
  } finally {
    await client.end().catch(() => undefined);
  }
}
