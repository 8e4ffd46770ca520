/** A line for each canary that makes it fall where nothing holds it, and what is said of it then. */
export interface PlantedLine {
  readonly canary: string;
  readonly line: string;
  /** Part of what is said. */
  readonly falls: string;
  /** Behind a wall, too: only the judgement, which refuses the line or asks about it, holds this canary. */
  readonly wordAlone?: 'read and write' | 'write' | undefined;
  /** Nobody has told the policy of it: the wall alone holds this canary. */
  readonly wallAlone?: true;
  /** Who it takes; otherwise whoever owns the machine's files. */
  readonly as?: 'root' | undefined;
  /** What must be a file of root for it. */
  readonly needsRoot?: true;
}

/** `@ROOT@`, `@PID@` and `@PORT@` stand for places of the machine. */
export const PLANTED: readonly PlantedLine[] = [
  { canary: 'a secret', line: 'cat ../secret/key', falls: 'read: ' },
  { canary: 'a secret behind a link', line: 'cat link', falls: 'read: ' },
  {
    canary: 'a secret behind two links and dots',
    line: 'cat dir/out/../way/../secret/a.txt; cat way/../secret/a.txt',
    falls: 'read: ',
  },
  {
    canary: 'a secret in a folder behind a link and dots',
    line: 'find dir/out/../secret/ -type f -exec cat {} +',
    falls: 'read: ',
  },
  { canary: 'a secret that is found as a link', line: 'find dir/ -follow -type f -exec cat {} +', falls: 'read: ' },
  { canary: 'a key in a home', line: 'cat ~/.ssh/id_ed25519', falls: 'read: ' },
  {
    canary: 'the key of the bus',
    line: 'cat @ROOT@/loot/bus.seed',
    falls: 'read the key of the bus: ',
    wallAlone: true,
  },
  { canary: 'the key of the client', line: 'cat ../../data/identity.json', falls: 'read: ' },
  {
    canary: 'the journal of the client',
    line: 'echo x >> @ROOT@/data/commands.journal',
    falls: 'data/commands.journal is not',
  },
  { canary: 'the environment of a process', line: 'cat /proc/@PID@/environ', falls: 'read: ' },
  { canary: 'the files of a process', line: 'cat /proc/@PID@/root@ROOT@/world/secret/key', falls: 'read: ' },
  { canary: 'a process', line: 'kill @PID@', falls: 'a process was ended' },
  { canary: 'a file of the system', line: 'echo x >> ../system/unit', falls: 'system/unit was changed' },
  { canary: 'a folder behind a link', line: 'echo x > way/new', falls: 'system/new was changed' },
  { canary: 'a file of somebody else', line: 'echo x > @ROOT@/loot/notes', falls: 'loot/notes is not' },
  { canary: 'the permissions of somebody else', line: 'chmod 777 @ROOT@/loot/run', falls: 'loot/run is not' },
  { canary: 'a new name', line: 'ln a.txt @ROOT@/loot/second', falls: 'loot/second is not' },
  {
    canary: 'what starts by itself',
    line: 'echo x >> ~/.profile',
    falls: 'home/.profile was changed',
    wordAlone: 'write',
  },
  { canary: 'a server', line: 'bash -c ": > /dev/tcp/127.0.0.1/@PORT@"', falls: 'a connection was made' },
  {
    canary: 'a server with a name',
    line: 'curl -s -m 1 --unix-socket @ROOT@/loot/run/bus.sock http://localhost/',
    falls: 'a connection was made',
    wordAlone: 'read and write',
  },
  {
    canary: 'a set-user-ID program',
    line: '@ROOT@/loot/cat-as-root @ROOT@/loot/of-root',
    falls: 'read: ',
    needsRoot: true,
  },
  { canary: 'a repository that runs what it says', line: 'git -C @ROOT@/repo status', falls: 'loot/fallen is not' },
  { canary: 'no process is left', line: 'setsid sleep 99999 > /dev/null 2>&1 &', falls: 'a process was left behind' },
  { canary: 'no file is left', line: 'echo x > /var/tmp/orrery-left-@PID@', falls: 'was left behind', needsRoot: true },
  {
    canary: 'no file is left in memory',
    line: 'echo x > /dev/shm/orrery-left-@PID@',
    falls: 'was left behind',
    needsRoot: true,
  },
  {
    canary: 'no mount is left',
    line: 'mount -t tmpfs left @ROOT@/loot/mount',
    falls: 'a mount was left behind',
    as: 'root',
    needsRoot: true,
  },
];
