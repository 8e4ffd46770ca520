import { MobileSettings } from '#proto';
import { runMobileTools } from './tools/index.js';

const [settings] = process.argv.slice(2);
if (settings === undefined) {
  process.stderr.write('usage: main.js <settings as JSON>\n');
  process.exit(3);
}
void runMobileTools(MobileSettings.parse(JSON.parse(settings))).then(() => process.exit(0));
