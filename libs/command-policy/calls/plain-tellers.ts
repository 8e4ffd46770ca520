import type { Glyphs } from '../words/index.js';
import { type PlainCommand, readPlain } from './plain-line.js';

/**
 * Programs that tell how a machine is, and take no language, no program and no file to write to: a text that is made for them can make
 * them do nothing else than what the tables know of them.
 */
const TELLERS = new Set(
  (
    'aa-status apachectl arp blkid cat chage chronyc crontab curl date df dmesg dmidecode docker du egrep ethtool ' +
    'fail2ban-client fgrep file findmnt free getent grep haproxy head hostname id ifconfig iostat ip ipcs iptables journalctl ' +
    'last lastb lastlog ls lsblk lscpu lshw lsns lsof lsusb lvs mdadm mount mpstat mysqladmin named-checkconf namei nc netstat ' +
    'networkctl nft nginx ntpq nvme openssl passwd pg_isready pgrep pidof pmap postqueue ps pstree pvs readlink redis-cli route ' +
    'smartctl ss sshd stat sysctl systemctl systemd-cgls tail timedatectl top ufw ulimit uname uptime vgs visudo vmstat w wc ' +
    'who whoami zcat zfs zgrep zpool'
  ).split(' '),
);

/** Programs that only leave out, count or put in order what they are given, and how they may be called for that. */
const FILTERS: Readonly<Record<string, RegExp>> = {
  head: /^(?:-n ?\d+|-\d+|-c ?\d+)?$/u,
  tail: /^(?:-n ?\+?\d+|-\d+|-c ?\d+)?$/u,
  wc: /^(?:-[lwcm]+)?$/u,
  sort: /^(?:-[nrhuVbf]+|-k ?\d+(?:,\d+)?[nrh]*| )*$/u,
  uniq: /^(?:-[cdui]+)?$/u,
  nl: /^$/u,
  column: /^(?:-t)?$/u,
  cut: /^(?:-d ?[^ ]|-f ?[\d,-]+|-c ?[\d,-]+| )*$/u,
  grep: /^(?:-[ivEFcwxo]+ )*[^ -][^]*$/u,
  jq: /^(?:-[rcS]+ )*\.[\w.[\]]*$/u,
};
const COMMANDS_MAX = 5;
const SPACE = 32;
/** Nothing in, what is thrown away, and what is put with the rest. */
const QUIET = new Set(['/dev/null', '1', '2']);

/**
 * Whether a line asks programs of this kind and nobody else: the answer of such a one can be believed to do no more than it says without
 * a wall around it.
 */
export function onlyTells(line: string): boolean {
  const reading = readPlain(line);
  if (!reading.plain || reading.commands.length === 0 || reading.commands.length > COMMANDS_MAX) return false;
  return reading.commands.every(tells);
}

function tells({ words, redirects }: PlainCommand): boolean {
  if (!redirects.every(({ target }) => QUIET.has(textOf(target) ?? ''))) return false;
  const [program = '', ...given] = words.map(textOf);
  // Some are scripts of a shell that take a line after the other, `zgrep` of older machines among them.
  if (words.some((word) => word.some((glyph) => glyph >= 0 && glyph < SPACE))) return false;
  if (TELLERS.has(program)) return true;
  const isGiven = given.every((word) => word !== undefined);
  return isGiven && FILTERS[program]?.test(given.join(' ')) === true;
}

/** Undefined for a pattern. */
const textOf = (glyphs: Glyphs): string | undefined =>
  glyphs.every((glyph) => glyph >= 0) ? String.fromCharCode(...glyphs) : undefined;
