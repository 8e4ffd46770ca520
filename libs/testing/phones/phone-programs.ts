import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Each tells that it was called, and with what: how many words there are, and each of them, with a NUL behind it. */
const TELL = `printf '%s\\0' "$#" "\${0##*/}" "$@" >> "$PHONE/calls"`;

/** After something was done, the next screen is there, if one is prepared. */
const TURN = `if [ -e "$PHONE/next.xml" ]; then mv "$PHONE/next.xml" "$PHONE/screen.xml"; fi`;

/**
 * What stands on a phone in the place of Android's own programs. They answer as Android's do, as far as they are asked here; what is shown
 * lies in files: `screen.xml`, `next.xml`, `screen.png`, `packages`, `keyboard`.
 */
const PROGRAMS: Readonly<Record<string, string>> = {
  input: `${TELL}\n${TURN}`,
  monkey: [
    TELL,
    `if ! grep -qxF "$2" "$PHONE/packages"; then echo '** No activities found to run, monkey aborted.'; exit 252; fi`,
    TURN,
    `echo 'Events injected: 1'`,
  ].join('\n'),
  am: `${TELL}\necho 'Broadcast completed: result=0'`,
  uiautomator: [
    `if [ ! -e "$PHONE/screen.xml" ]; then echo 'ERROR: could not get idle state.' >&2; exit 0; fi`,
    `mkdir -p "$PHONE/root\${2%/*}" && cp "$PHONE/screen.xml" "$PHONE/root$2" && echo "UI hierchary dumped to: $2"`,
  ].join('\n'),
  cat: `exec /bin/cat "$PHONE/root$1"`,
  rm: `exec /bin/rm -f "$PHONE/root$2"`,
  screencap: `exec /bin/cat "$PHONE/screen.png"`,
  pm: `sed 's/^/package:/' "$PHONE/packages"`,
  settings: `/bin/cat "$PHONE/keyboard" 2>/dev/null || echo null`,
  wm: `echo 'Physical size: 1080x2340'`,
  getprop: `case "$1" in ro.product.model) echo 'Stand-in 1';; ro.build.version.release) echo 14;; *) echo;; esac`,
};

/** Puts them into a folder of their own; returns it. */
export async function writePhonePrograms(dir: string): Promise<string> {
  const bin = join(dir, 'bin');
  await mkdir(bin, { recursive: true });
  for (const [name, script] of Object.entries(PROGRAMS)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  return bin;
}
