/** What the program says of itself, in its help and in the manual. */
export const DESCRIPTION =
  'Runs one request as a constellation of tasks on a fleet of devices, from an event log that anybody can replay.';

type Row = readonly [word: string, meaning: string];

export const EXIT_MEANINGS: readonly Row[] = [
  ['0', 'done, or nothing was to be done; with --wait and watch: the run succeeded'],
  ['1', 'verify found something altered, or the command could not do its work'],
  ['2', 'the run failed, failed in parts, or was cancelled'],
  ['3', 'bad input, or refused; nothing was changed'],
  ['4', 'the bus or a service cannot be reached, has no room to store it, or nobody knows what came of it'],
  ['129, 130, 143', 'ended by SIGHUP, Ctrl-C or SIGTERM before its work was done'],
];

export const ENVIRONMENT: readonly Row[] = [
  ['ORRERY_HOME', 'data of the embedded system (default ~/.orrery, as root /var/lib/orrery)'],
  ['ORRERY_NATS_URL', 'use this bus, with the key in ORRERY_NATS_SEED_FILE, instead of the embedded one'],
  ['ORRERY_CONTEXT', 'the context that is meant, as with --context; both count before ORRERY_HOME and ORRERY_NATS_URL'],
  ['ORRERY_BUS_TIMEOUT', 'seconds after which a bus that says nothing is given up: 10, and 300 for what follows a run'],
  [
    'ORRERY_NATS_PORT, ORRERY_POSTGRES_PORT, ORRERY_CONSOLE_PORT, ORRERY_AIP_PORT, ORRERY_MCP_PORT',
    'ports of "up"; 0 is any free one',
  ],
  ['NO_COLOR', 'no colours'],
];

export const NAMES_OF_RUNS =
  'A run is named by its id, by the beginning of it (4 characters or more), or, to look at it, by "latest".';

export const FIRST_EXAMPLES: readonly string[] = [
  'orrery demo',
  'orrery up --devices 2',
  'orrery submit -f deploy/examples/fleet-health.json --wait',
  'orrery watch latest',
  'orrery verify --all',
];
