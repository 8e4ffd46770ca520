import { runDeviceTools } from './device-mcp.runner.js';
import { ExecSettings } from '../exec/index.js';

const [settings] = process.argv.slice(2);
if (settings === undefined) {
  process.stderr.write('usage: device-mcp.main.js <settings as JSON>\n');
  process.exit(3);
}
void runDeviceTools(ExecSettings.parse(JSON.parse(settings))).then(() => process.exit(0));
