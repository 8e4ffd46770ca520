import { runDeviceTools } from './device-mcp.runner.js';

const [jailDir, outputsDir, outputBytesMax] = process.argv.slice(2);
if (jailDir === undefined) {
  process.stderr.write('usage: device-mcp.main.js <jail directory> [<directory for outputs> <bytes of an output>]\n');
  process.exit(3);
}
const bytesMax = Number(outputBytesMax ?? 0);
const spool = outputsDir !== undefined && bytesMax > 0 ? { dir: outputsDir, bytesMax } : undefined;
await runDeviceTools({ jailDir, spool });
process.exit(0);
