/** `node dist/libs/testing/model-server/model-server.main.js replies.json [port]`: a scripted endpoint to try things against by hand. */
import { readFile } from 'node:fs/promises';
import { startModelServer } from './model-server.js';
import type { ModelServerReply } from './model-server-script.js';

const [file, port = '0'] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('Usage: model-server.main.js <file with a JSON array of replies> [port]\n');
  process.exit(3);
}
const replies = JSON.parse(await readFile(file, 'utf8')) as ModelServerReply[];
const server = await startModelServer({ port: Number(port), reply: (_, index) => replies[index % replies.length] });
process.stdout.write(`OPENAI_BASE_URL=${server.url}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.stop());
