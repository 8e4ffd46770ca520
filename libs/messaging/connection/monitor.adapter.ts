import * as http from 'node:http';
import * as https from 'node:https';
import { json } from 'node:stream/consumers';

const MONITOR_TIMEOUT_MS = 3_000;

/** What the HTTP monitoring of nats-server says at this path, also with a status that is no success. Throws when it does not answer. */
export async function readMonitor(monitorUrl: string, path: string): Promise<unknown> {
  return json(await answerOf(new URL(path, monitorUrl)));
}

/** By Node's older client: `fetch` would be loaded for this one question at the start of every service. */
function answerOf(url: URL): Promise<http.IncomingMessage> {
  const { get } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    get(url, { signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS) }, resolve).once('error', reject);
  });
}
