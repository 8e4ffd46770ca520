// The services of `./orrery up` as Prometheus reads them with file_sd_configs: `node deploy/monitoring/targets.mjs > targets.json`.
// The home is ORRERY_HOME, without it ~/.orrery, for root /var/lib/orrery.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const home = process.env.ORRERY_HOME || (process.getuid?.() === 0 ? '/var/lib/orrery' : join(homedir(), '.orrery'));
const { health } = JSON.parse(readFileSync(join(home, 'endpoints.json'), 'utf8'));
const targets = Object.entries(health).map(([name, url]) => ({
  targets: [new URL(url).host],
  labels: { orrery_service: name },
}));
console.log(JSON.stringify(targets, null, 2));
