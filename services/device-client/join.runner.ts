import { join, resolve } from 'node:path';
import { BAD_INPUT, type JoinOptions } from './command-line.js';
import { JournalError } from './command-journal.js';
import { DataDirInUse } from './data-dir-lock.adapter.js';
import { dataDirOf, InputError, readConfig, serverUrl, tokenSource } from './device-client.config.js';
import { runDeviceClient } from './device-client.runner.js';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** `orrery-device join`: checks everything a person can get wrong, then runs. */
export async function joinServer(options: JoinOptions, complain: (sentence: string) => void): Promise<number> {
  try {
    const logLevel = options.logLevel ?? process.env['ORRERY_LOG_LEVEL'] ?? 'info';
    if (!LOG_LEVELS.includes(logLevel)) {
      throw new InputError(`--log-level must be one of ${LOG_LEVELS.join(', ')}, not "${logLevel}".`);
    }
    const url = serverUrl(options.url);
    const config = await readConfig(options.config);
    const token = await tokenSource(options.tokenFile);
    const dataDir = dataDirOf(options.dataDir);
    const jailDir = resolve(options.jailDir ?? join(dataDir, 'jail'));
    const clientId = options.id ?? null;
    return await runDeviceClient({ url, token, clientId, dataDir, jailDir, config, logLevel });
  } catch (error) {
    if (error instanceof InputError || error instanceof DataDirInUse) {
      complain(`orrery-device: ${error.message}\n`);
      return BAD_INPUT;
    }
    if (error instanceof JournalError) {
      complain(
        `orrery-device: the journal is damaged: ${error.message}. It is not used, because a command could run twice.\n`,
      );
      return 1;
    }
    throw error;
  }
}
