import { DesktopSettings } from '#proto';
import { runDesktopTools } from './tools/index.js';

const [settings] = process.argv.slice(2);
if (settings === undefined) {
  process.stderr.write('usage: desktop-tools <settings as JSON>\n');
  process.exit(3);
}
void runDesktopTools(DesktopSettings.parse(JSON.parse(settings)), process.env).then(() => process.exit(0));
