import { request } from 'node:http';
import { z } from 'zod';
import { parseJson } from '#proto';

const Said = z.object({ message: z.string().optional(), names: z.array(z.string()).optional() });

/** What the supervisor said: done; or the names that there are; or why not. */
export type DoorAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'unknown'; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string };

/** Asks the supervisor behind this socket to start something anew. Throws when nobody is there. */
export async function askRestart(file: string, name: string, signal: AbortSignal): Promise<DoorAnswer> {
  const { status, body } = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const asked = request(
      { socketPath: file, method: 'POST', path: `/restart/${encodeURIComponent(name)}`, signal },
      (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (part: string) => (body += part));
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body }));
        answer.once('error', reject);
      },
    );
    asked.once('error', reject).end();
  });
  if (status === 200) return { kind: 'done' };
  const { names, message } = Said.safeParse(parseJson(body)).data ?? {};
  if (names !== undefined) return { kind: 'unknown', names };
  return { kind: 'failed', message: message ?? `the supervisor answered with ${status}` };
}
