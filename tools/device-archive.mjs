// Makes what a machine that has nothing needs to become a device: for each platform one archive (Node, the bundled client, its grammars),
// the script that installs it, and `offer.json` with the SHA-256 of them all (proto/device-offer.ts), which is what gateways offer.
//
//   node tools/device-archive.mjs [linux-x64] [linux-arm64]      without a platform: that of this machine
//
// The same sources give the same bytes. What is there already is not made again; what Node takes in an archive is kept for the next one.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const store = process.env.ORRERY_DEVICE_OFFER || join(root, '.cache/device-archive');
const here = `${process.platform}-${process.arch}`;
const platforms = process.argv.length > 2 ? process.argv.slice(2) : [here];

const CLIENT = 'dist/services/device-client';
/** What the client reads when it runs, as it lies in a checkout. Maps are for developers: without them stacks name places in the program. */
const PARTS = [
  `${CLIENT}/main.js`,
  `${CLIENT}/main.cjs`,
  `${CLIENT}/tools/device-mcp.main.js`,
  `${CLIENT}/tools/device-mcp.main.cjs`,
  'dist/services/mobile-tools/main.js',
  'dist/services/mobile-tools/main.cjs',
  'dist/services/desktop-tools/main.js',
  'dist/services/desktop-tools/main.cjs',
  'node_modules/web-tree-sitter/package.json',
  'node_modules/web-tree-sitter/web-tree-sitter.wasm',
  'node_modules/tree-sitter-bash/package.json',
  'node_modules/tree-sitter-bash/tree-sitter-bash.wasm',
  'LICENSE',
];
/** What people and units start. It knows its own release, also when it is reached by a link to the current one. */
const STARTER = `#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
exec "$here/node" --max-semi-space-size=8 --max-old-space-size=512 "$here/../${CLIENT}/main.js" "$@"
`;

const sha = (bytes) => createHash('sha256').update(bytes).digest('hex');
const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

/** Whole or not at all: a gateway may be reading. */
function put(name, bytes) {
  const unfinished = join(store, `.${name}.${process.pid}`);
  fs.writeFileSync(unfinished, bytes, { mode: 0o644 });
  fs.renameSync(unfinished, join(store, name));
  return { file: name, sha256: sha(bytes), bytes: bytes.length };
}

/** One entry of a ustar archive (POSIX.1-1988): of nobody, from no time. */
function entry(name, bytes, mode) {
  const head = Buffer.alloc(512);
  const octal = (value, digits) => `${value.toString(8).padStart(digits, '0')}\0`;
  head.write(name, 0, 100);
  head.write(
    octal(mode, 7) + octal(0, 7) + octal(0, 7) + octal(bytes.length, 11) + octal(0, 11) + ' '.repeat(8) + '0',
    100,
  );
  head.write('ustar\x0000', 257);
  head.write(
    octal(
      head.reduce((sum, byte) => sum + byte, 0),
      6,
    ),
    148,
  );
  return Buffer.concat([head, bytes, Buffer.alloc(-bytes.length & 511)]);
}

/** A member of a gzip file (RFC 1952); several after each other are one file. Its head names no system. */
function member(bytes, level) {
  const made = gzipSync(bytes, { level });
  made[9] = 255;
  return made;
}

/** The Node of a platform, from the package that npm has checked, or from one that is pinned; in a container the one that runs. */
function nodeOf(platform, version) {
  const installed = join(root, `node_modules/node-${platform}/bin/node`);
  if (fs.existsSync(installed)) return fs.readFileSync(installed);
  if (platform === here) return fs.readFileSync(process.execPath);
  const pin = fs
    .readFileSync(join(root, 'tools/node-release.txt'), 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([pinned, of]) => pinned === version && of === platform);
  if (pin === undefined) fail(`Node ${version} for ${platform} is not pinned in tools/node-release.txt.`);
  const place = fs.mkdtempSync(join(tmpdir(), 'orrery-node-'));
  try {
    const said = execFileSync('npm', ['pack', '--json', `node-${platform}@${version}`], {
      cwd: place,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ filename }] = JSON.parse(said);
    const bytes = fs.readFileSync(join(place, filename));
    const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    if (found !== pin[2])
      fail(`Node ${version} for ${platform} is not the pinned one (sha512 differs); it is not used.`);
    return execFileSync('tar', ['-xzOf', filename, 'package/bin/node'], { cwd: place, maxBuffer: 2 ** 29 });
  } finally {
    fs.rmSync(place, { recursive: true, force: true });
  }
}

/** Most of an archive, and the same for years: compressed once. */
function nodeMember(platform, version) {
  const kept = join(store, `node-${platform}-${version}.gz`);
  if (fs.existsSync(kept)) return fs.readFileSync(kept);
  const made = member(entry('bin/node', nodeOf(platform, version), 0o755), constants.Z_BEST_SPEED);
  put(`node-${platform}-${version}.gz`, made);
  return made;
}

const missing = PARTS.find((part) => !fs.existsSync(join(root, part)));
if (missing !== undefined) fail(`${missing} is not there; build first: npm run build`);
const strange = platforms.find((platform) => !/^linux-(?:x64|arm64)$/u.test(platform));
if (strange !== undefined) fail(`There is no archive for "${strange}"; there are linux-x64 and linux-arm64.`);

fs.mkdirSync(store, { recursive: true });
const script = fs.readFileSync(join(root, 'deploy/device/install.sh'), 'utf8');
const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
const node = process.versions.node;
const parts = PARTS.map((name) => ({ name, bytes: fs.readFileSync(join(root, name)) }));
const contents = [...parts.map(({ name, bytes }) => `${name} ${sha(bytes)}`), STARTER, script, node].join('\n');
/** What a device says that it runs, and what it is compared with. */
const release = `${version}-${sha(contents).slice(0, 12)}`;

const offered =
  fs.existsSync(join(store, 'offer.json')) && JSON.parse(fs.readFileSync(join(store, 'offer.json'), 'utf8'));
const archives = offered?.release === release ? offered.archives : {};
const wanted = platforms.filter(
  (one) => archives[one] === undefined || !fs.existsSync(join(store, archives[one].file)),
);
for (const platform of wanted) {
  const facts = { name: 'orrery-device', version, type: 'module', release, node, platform };
  const files = [
    ['package.json', Buffer.from(`${JSON.stringify(facts, null, 2)}\n`), 0o644],
    ['bin/orrery-device', Buffer.from(STARTER), 0o755],
    ...parts.map(({ name, bytes }) => [name, bytes, 0o644]),
  ];
  const client = Buffer.concat([...files.map((file) => entry(...file)), Buffer.alloc(1024)]);
  const archive = Buffer.concat([nodeMember(platform, node), member(client, constants.Z_DEFAULT_COMPRESSION)]);
  archives[platform] = put(`orrery-device-${release}-${platform}.tar.gz`, archive);
}
if (wanted.length > 0) {
  const known = Object.entries(archives).map(([platform, { file, sha256 }]) => `${platform} ${file} ${sha256}`);
  const text = Buffer.from(script.replace('@RELEASE@', release).replace('@ARCHIVES@', known.toSorted().join('\n')));
  const offer = { release, script: put(`install-${sha(text).slice(0, 12)}.sh`, text), archives };
  put('offer.json', Buffer.from(`${JSON.stringify(offer, null, 2)}\n`));
  const used = new Set(['offer.json', offer.script.file, ...Object.values(archives).map(({ file }) => file)]);
  for (const name of fs.readdirSync(store)) {
    if (!used.has(name) && /^(?:install-|orrery-device-)/u.test(name)) fs.rmSync(join(store, name), { force: true });
  }
}
process.stdout.write(fs.readFileSync(join(store, 'offer.json')));
