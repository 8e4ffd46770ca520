// `node tools/packages-match.mjs <checkout>`: exit code 0 when node_modules holds what package-lock.json says.
// Compares npm's own record of what it installed; runs on the oldest Node that can install packages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = '.'] = process.argv.slice(2);

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

const isGlibc = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime !== undefined;

/** An optional package is missing rightly on the platforms it is not for. */
function belongsHere({ os, cpu, libc, optional, devOptional }) {
  if (optional !== true && devOptional !== true) return true;
  const fits = os?.includes(process.platform) === true && cpu?.includes(process.arch) === true;
  return fits && (libc === undefined || libc.includes(isGlibc ? 'glibc' : 'musl'));
}

const wanted = Object.entries(packagesOf('package-lock.json')).filter(([path]) => path !== '');
const installed = packagesOf('node_modules/.package-lock.json');
const differs = wanted.some(([path, entry]) => {
  const found = installed[path];
  if (found === undefined) return belongsHere(entry);
  return found.version !== entry.version || found.integrity !== entry.integrity;
});
process.exit(wanted.length === 0 || differs ? 1 : 0);
