import { BAD_INPUT, runCommandLine, type Deeds } from './cli/index.js';
import { InputError } from './faults/index.js';

const err = (text: string): void => void process.stderr.write(text);
const out = (text: string): void => void process.stdout.write(text);

// Loaded when they are needed: help answers at once.
const connection = () => import('./connection/index.js');
const installed = () => import('./install/index.js');

const deeds: Deeds = {
  join: async (options) => (await connection()).joinServer(options, err),
  run: async () => {
    const { joinOptionsOf, ownInstallation } = await installed();
    return deeds.join(await joinOptionsOf((await ownInstallation()).places));
  },
  install: async (options) => (await installed()).installClient(options, { out, err }),
  start: async () => (await installed()).startClient({ out, err }),
  status: async (options) => (await installed()).tellStatus(options, { out, err }),
  logs: async (options) => (await installed()).showLogs(options),
  upgrade: async () => (await installed()).upgradeClient({ out, err }),
  leave: async () => (await installed()).leave({ out, err }),
};

void runCommandLine(process.argv.slice(2), { out, err }, deeds)
  .catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    err(`orrery-device: ${error.message}\n`);
    return BAD_INPUT;
  })
  .then((code) => process.exit(code));
