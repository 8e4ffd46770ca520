import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import packed from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The Chromium that comes as a package, or where it does not run a Chromium or Chrome of this machine, which draws a window beside every page and
 * costs more than twice as much. Whoever opens it closes it.
 */
export async function openBrowser(): Promise<Browser> {
  // What the package recommends would also turn off what keeps pages apart.
  const args = process.geteuid?.() === 0 ? ['--no-sandbox'] : [];
  const open = (executablePath: string): Promise<Browser> => chromium.launch({ executablePath, args });
  try {
    return await open(await packed.executablePath());
  } catch (error) {
    const own = ownBrowser();
    if (own === undefined) throw error;
    return open(own);
  }
}

function ownBrowser(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}
