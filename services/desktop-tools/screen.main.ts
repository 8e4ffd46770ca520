// A desktop of its own as one process: the display, its bus and its window manager start and end with it.
import { readFileSync } from 'node:fs';
import { ScreenSettings } from '#proto';
import { runScreen } from './screen/index.js';

const [file, ...command] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: screen.main.js <file of settings> [<program that works on it> <argument>...]\n');
  process.exit(3);
}
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());

async function run(): Promise<number> {
  try {
    const ended = await runScreen(ScreenSettings.parse(JSON.parse(readFileSync(file ?? '', 'utf8'))), {
      command,
      signal: stopping.signal,
      onReady: (ports) => process.send?.({ ready: true, ports }),
    });
    if (ended === undefined) return 0;
    process.stderr.write(`${ended}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  return 1;
}
void run().then((code) => process.exit(code));
