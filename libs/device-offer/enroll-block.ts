// What a person pastes into a shell of the machine that is to become a device.
import type { DeviceOffer } from '#proto';
import { shellWord } from '#libs/visible';
import { urlWord } from './gateway-url.js';

export interface PastedBlock {
  /** Of the gateway, as the device reaches it. */
  readonly url: string;
  readonly token: string;
  readonly offer: DeviceOffer;
  /** PEM of the authority that the gateway's certificate is of; undefined: one that every machine knows. */
  readonly ca: string | undefined;
  /** Where it is installed; undefined: where it usually is. */
  readonly dir: string | undefined;
}

/** `ws://host/prefix/ws` -> `http://host/prefix/device/<file>`: beside the sockets of the same gateway. */
export const offeredAt = (url: string, file: string): string =>
  new URL(`device/${file}`, url.replace(/^ws/u, 'http')).href;

/**
 * For sh, bash and zsh, as it stands here: fetches the script, compares it with the SHA-256 that came with these lines and not with the
 * script, and gives it the token on standard input. The space before it keeps it out of the history of shells that are told so
 * (HISTCONTROL=ignorespace or ignoreboth); the token is worth nothing once it was used.
 */
export function enrollBlock({ url, token, offer, ca, dir }: PastedBlock): string {
  const { file, sha256 } = offer.script;
  const words = [urlWord(url), ...(dir === undefined ? [] : ['--dir', shellWord(dir)])];
  const pinned = ca === undefined ? '' : ' --ca-file "$d/ca.pem"';
  return [
    ' (set -eu; d=$(mktemp -d); trap \'rm -rf "$d"\' EXIT',
    `u=${shellWord(offeredAt(url, file))}`,
    ...(ca === undefined ? [] : ['cat >"$d/ca.pem" <<\'PEM\'', ca.trim(), 'PEM']),
    `if command -v curl >/dev/null; then curl -fsS${ca === undefined ? '' : ' --cacert "$d/ca.pem"'} -o "$d/script" "$u"`,
    `else wget -q${ca === undefined ? '' : ' --ca-certificate="$d/ca.pem"'} -O "$d/script" "$u"; fi`,
    `echo "${sha256}  $d/script" | sha256sum -c - >/dev/null 2>&1 || {`,
    'echo "What was fetched is not the script that was promised (SHA-256 differs); it is not used." >&2; exit 1; }',
    `sh "$d/script" ${words.join(' ')}${pinned} <<'TOKEN'`,
    token,
    'TOKEN',
    ')',
  ].join('\n');
}

/** The same for a machine that has the client. With a key at hand the device leaves its standard input alone, unless it is named. */
export function joinCommand({ url, token }: Pick<PastedBlock, 'url' | 'token'>): string {
  return `printf %s '${token}' | orrery-device join --url ${urlWord(url)} --token-file /dev/stdin`;
}
