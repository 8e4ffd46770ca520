import { runDeviceTools } from './device-mcp.runner.js';

const [jailDir] = process.argv.slice(2);
if (jailDir === undefined) {
  process.stderr.write('usage: device-mcp.main.js <jail directory>\n');
  process.exit(3);
}
await runDeviceTools(jailDir);
process.exit(0);
