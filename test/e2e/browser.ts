import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import packed from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A Chromium or Chrome of this machine, or the one that comes as a package. Whoever opens it closes it. */
export async function openBrowser(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const own = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
  // What the package recommends would also turn off what keeps pages apart.
  const args = process.geteuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: own ?? (await packed.executablePath()), args });
}
