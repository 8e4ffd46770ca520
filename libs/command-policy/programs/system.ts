import { type Call, each, type Operands, plainly, program, type Program, type ProgramTable } from '../calls/index.js';
import { floor, type CommandFinding, has, type Arguments, showWord, type View } from '../words/index.js';

const read = (options: string, operands: Operands = 'text', also?: Program['also']) =>
  program('read', options, operands, also === undefined ? {} : { also });
const sees = (views: readonly View[], options: string, operands: Operands = 'text', also?: Program['also']) =>
  program('read', options, operands, { views, ...(also === undefined ? {} : { also }) });

/** Set the value of a variable of the kernel, or only say it. */
function sysctl({ operands, given }: Arguments, call: Call): CommandFinding[] {
  const writes =
    given.some(({ name }) => name === '-w' || name === '--write') ||
    operands.some(({ text, dynamic }) => dynamic || text?.includes('='));
  const ofNetwork = operands.length === 0 || operands.some(({ text }) => text?.startsWith('net') !== false);
  const ofNamespace =
    operands.length === 0 ||
    operands.some(
      ({ text }) =>
        text === undefined || /^(?:kernel[./](?:shm|msg|sem|pid_max|ns_last)|fs[./]mqueue|user)/u.test(text),
    );
  return [
    ...(writes ? [call.is('privileged', 'changes the kernel.')] : []),
    ...(ofNamespace
      ? [{ ...call.is('read', 'looks at what each wall has of its own.'), views: ['whole-machine'] as const }]
      : []),
    ...(ofNetwork ? [{ ...call.is('read', 'looks at the network.'), views: ['host-network'] as const }] : []),
  ];
}

const LAST =
  '-adFiRwx -n: -# -f< -s: -t: -p: --dns --file< --fulltimes --fullnames --hostlast --ip --limit: --nohostname --present: --since: --system --time-format: --until:';
const COUNTERS = '-abcdDfghikmnpstwxzArRuqvVFSyBHWj -P: -p: -S: -n: -u: -I: -T: -# --human --pretty --dec: -m:';
/** Programs that ask or change the machine itself. */
export const SYSTEM: ProgramTable = {
  ...each('true false : sleep whoami tty users logname hostid printenv nproc', program('read', '', 'any')),
  pwd: read('-LP --logical --physical', 'none'),
  ...each(
    'id groups',
    program('read', '-agGnruzZ --user --group --groups --name --real --zero --context', 'any', {
      // Of oneself also the groups that a namespace has no names for.
      also: ({ operands }, call) =>
        operands.length > 0 ? [] : [{ ...call.is('read', 'says who it is.'), views: ['owners'] }],
    }),
  ),
  echo: program('read', '', 'any'),
  uname: read(
    '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system',
    'none',
  ),
  hostname: read(
    '-adfsy -I!host-network -A!host-network -i!host-network --fqdn --all-fqdns!host-network --ip-address!host-network --all-ip-addresses!host-network --short --domain --alias --long',
    'none',
  ),
  uptime: read('-psV --pretty --since', 'none'),
  free: read(
    '-bkmghtlwvs -c: -s: --bytes --kilo --mega --giga --human --total --wide --lohi --si --seconds: --count:',
    'none',
  ),
  date: read(
    '-uRI -d: -r% -f< -I? -s:!privileged --utc --universal --date: --reference% --file< --iso-8601? --rfc-3339: --rfc-email --set:!privileged --debug',
    'text',
    ({ operands }, call) =>
      operands.every(({ text }) => text?.startsWith('+')) ? [] : [call.ask('privileged', 'may set the clock.')],
  ),
  ...each('cal ncal', read('-13jmsywhbneMSpN -A: -B: -d: -H: -m:')),
  who: program(
    'read',
    '-bdHlmpqrst -aTuw!host-devices --all!host-devices --boot --count --dead --heading --ips --login --lookup --mesg!host-devices --message!host-devices --process --runlevel --short --time --users!host-devices --writable!host-devices',
    'read',
  ),
  w: sees(['host-processes', 'host-devices'], '-fhiopsu --from --ip-addr --no-current --no-header --old-style --short'),
  last: read(LAST),
  lastb: sees(['privileged-read'], LAST),
  lastlog: read('-b: -t: -u: --before: --time: --user:'),
  ps: program('read', '', 'any', {
    views: ['host-processes', 'host-devices'],
    also: (_, call) => [
      ...(showsEnvironment(call) ? [call.ask('privileged', 'may show the environment of programs.')] : []),
      ...(showsOwners(call) ? [{ ...call.is('read', 'shows whose programs are.'), views: ['owners'] as const }] : []),
      ...(showsInside(call) ? [{ ...call.is('read', 'looks into programs.'), views: ['whole-machine'] as const }] : []),
    ],
  }),
  ...each(
    'pgrep pidof pstree',
    sees(
      ['host-processes'],
      '-acdflLnovwxsiAghklnNpSTtZqm -d: -P: -u:!owners -U:!owners -g: -G:!owners -t: -F< -H: -c -o: --full --list-name --list-full --newest --oldest --count --delimiter: --exact --ignore-case --parent: --euid:!owners --uid:!owners --show-pids --arguments --ascii',
    ),
  ),
  top: sees(
    ['host-processes', 'host-devices', 'owners'],
    '-bcHiSs1Eee -n: -d: -p: -u: -U: -o: -w: -E: -e: -w?',
    'none',
  ),
  ...each('vmstat iostat mpstat sar', read(COUNTERS)),
  pidstat: sees(['host-processes', 'owners'], COUNTERS),
  slabtop: sees(['privileged-read'], COUNTERS),
  lsblk: sees(
    ['whole-machine'],
    '-AabdDfiJlmMnNOpPrsStTvVz -o: -e: -I: -x: -w: --all --ascii --bytes --discard --fs --inverse --json --list --nodeps --noheadings --output: --output-all --pairs --paths --perms --raw --scsi --sort: --topology --tree? --zoned --nvme --virtio --width: --exclude: --include: --dedup:',
  ),
  lspci: read('-bDkmnPtv -d: -s:'),
  lsusb: sees(['host-devices'], '-tv -s: -d: --verbose --tree'),
  lsmem: read(
    '-abJnPr -o: -s: -S: --all --bytes --json --noheadings --output: --output-all --pairs --raw --split: --summary?',
  ),
  lsipc: sees(
    ['whole-machine'],
    '-abceJlmnPpqrstz -g -i: -o: --global --json --list --noheadings --output: --shmems --queues --semaphores --time',
  ),
  ...each('lsmod arch', read('', 'none')),
  lsscsi: read('-cdgiklLpstuv --device --generic --size --transport --verbose'),
  numastat: read('-cmnsvz -p:'),
  lsns: sees(
    ['host-processes', 'whole-machine'],
    '-JlnPrTuW -o: -p: -t: --json --list --noheadings --output: --output-all --persistent --raw --task: --type: --tree?',
  ),
  lslocks: sees(
    ['host-processes', 'whole-machine'],
    '-biJnruP -o: -p: --bytes --noinaccessible --json --noheadings --output: --output-all --pid: --raw --notruncate',
  ),
  lslogins: sees(
    ['privileged-read'],
    '-acefGLmnprsuzZ -g: -l: -o: --acc-expiration --colon-separated --export --failed --groups: --last --logins: --newline --noheadings --notruncate --output: --pwd --raw --system-accs --supp-groups --user-accs --print0',
  ),
  lshw: sees(
    ['privileged-read'],
    '= -class: -C: -short -businfo -sanitize -numeric -quiet -json -xml -html -notime -enable: -disable:',
  ),
  dmidecode: sees(['privileged-read'], '-qu -s: -t: -H: --quiet --string: --type: --handle: --no-sysfs'),
  lsof: program('read', '-abCGhlnNoOPRstUvVwX -i? -p: -u: -c: -d: -g: -r? -F? -s? -T? +D: -a -E --', 'list', {
    views: ['host-processes', 'host-network', 'whole-machine'],
    also: (args, call) => (has(args, '-r') ? [call.ask('read', 'would never end.')] : []),
  }),
  blkid: sees(
    ['privileged-read', 'host-devices'],
    '-dghikpV -o: -s: -t: -u: -L: -U: -n: --output: --match-tag: --list-one',
  ),
  findmnt: sees(
    ['whole-machine'],
    '-aAbcCDdefiJklmnoOPrRstTuUvVy -o: -S: -T: -t: -M: -N: -O: --all --df --fstab --json --list --noheadings --output: --raw --source: --target: --types: --real --pseudo --output-all --tree --kernel --mtab --bytes --pairs --verify',
    'list',
  ),
  mount: program('read', '-lvV -t: --types: --show-labels --verbose', 'text', {
    views: ['whole-machine'],
    also: ({ operands }, call) =>
      operands.length === 0 ? [] : [call.is('privileged', 'changes what the file system is.'), ...mountFindings(call)],
  }),
  dmesg: sees(
    ['privileged-read'],
    '-deHkLPrStTuwWxN -f: -l: -n:!privileged -s: -F< -c!destructive -C!destructive -D!privileged -E!privileged --clear!destructive --read-clear!destructive --level: --facility: --ctime --human --kernel --notime --nopager --reltime --raw --time-format: --userspace --decode --since: --until: --follow --color? --file< --json',
    'none',
  ),
  // A wall has limits of its own.
  ...each('ulimit', read('-HSbdeiklmnpqrsxPRT -acftuv!whole-machine', 'text')),
  umask: program('read', '-pS', 'text', {
    also: ({ operands }, call) => (operands.length > 0 ? [call.is('write', 'changes the mode of new files.')] : []),
  }),
  ...each('locale localectl getconf', read('-akcmv --all-locales --charmaps --keyword --category-name')),
  getent: program('read', '-s: -i --service: --no-idn', 'text', {
    also: ({ operands }, call) => {
      const database = operands[0]?.text;
      if (database === 'hosts' || database?.startsWith('ahosts') || database === undefined)
        return [call.is('network', 'asks name servers.')];
      return database.includes('shadow') ? [call.ask('privileged', 'shows the hashes of passwords.')] : [];
    },
  }),
  sysctl: program(
    'read',
    '-abAeNnqr -w!privileged -p<!privileged -f<!privileged --all --names --values --ignore --quiet --pattern: --write!privileged --load<!privileged --system!privileged',
    'text',
    { also: sysctl },
  ),
  ...each('lpstat sensors acpi runlevel uuidgen', read('-aABu')),
  ldd: plainly('privileged', 'may run the program that it looks at.'),
  lscpu: read(
    '-abcexyJBCp? -C? --all --online --offline --json --bytes --extended? --parse? --caches? --hex --physical',
    'none',
  ),
  'nvidia-smi': sees(['host-devices'], '-L --list-gpus --query-gpu: --format:', 'none'),
  getcap: read('-rvn', 'list'),

  ...each(
    'kill pkill killall killall5 skill snice fuser xkill slay',
    program('destructive', '', 'any', { does: 'ends or changes programs.', also: ownFindings }),
  ),
  ...each(
    'useradd adduser usermod userdel deluser groupadd addgroup groupmod groupdel delgroup gpasswd chpasswd chsh chfn newusers vipw vigr pwconv pwunconv grpconv pam_tally2',
    plainly('privileged', 'changes who may use the machine.'),
  ),
  ...each(
    'reboot shutdown poweroff halt init telinit kexec rtcwake pm-suspend pm-hibernate',
    plainly('privileged', 'stops the machine.'),
  ),
  ...each(
    'umount swapoff cryptsetup lvcreate lvremove lvextend lvreduce lvresize lvrename vgcreate vgremove vgextend vgreduce pvcreate pvremove pvresize dmsetup tune2fs resize2fs e2fsck fsck xfs_growfs xfs_repair quotaon quotaoff setquota edquota mknod btrfs grub-install update-grub grub-mkconfig update-initramfs dracut mkinitramfs efibootmgr bootctl sg_format fstrim',
    plainly('privileged', 'changes disks or what the machine starts from.'),
  ),
  ...each(
    'fdisk sfdisk gdisk cfdisk parted partprobe partx kpartx addpart delpart',
    plainly('privileged', 'changes partitions.'),
  ),
  ...each('mkfs mke2fs mkswap mkdosfs mkntfs wipefs blkdiscard sgdisk badblocks', onDisk),
  ...each(
    'mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.minix mkfs.f2fs mkfs.exfat mkfs.msdos mkfs.cramfs mkfs.bfs newfs',
    onDisk,
  ),
  dd,
  ...each('insmod modprobe rmmod depmod kmod', plainly('privileged', 'changes the kernel.')),
  ...each(
    'iptables-restore ip6tables-restore ebtables arptables ipset ipvsadm',
    plainly('privileged', 'decides about connections.'),
  ),
  ...each(
    'alternatives ldconfig setenforce semanage setsebool apparmor_parser aa-disable aa-complain authselect locale-gen dpkg-reconfigure debconf-set-selections hwclock ntpdate setcap setpriv capsh logrotate',
    plainly('privileged', 'changes the system.'),
  ),
  ...each(
    'systemd-run systemd-nspawn systemd-cryptenroll systemd-tmpfiles busctl dbus-send gdbus machinectl portablectl homectl',
    plainly('privileged', 'tells the system what to do.'),
  ),
  ...each('at batch atrm anacron', plainly('privileged', 'plans commands for later.')),
  crontab: (call) =>
    call.args.length === 1 && call.args[0]?.text === '-l'
      ? [{ ...call.is('read', 'lists what is planned.'), views: ['whole-machine'] }]
      : [
          call.is('privileged', 'changes what is planned.'),
          ...call.args.flatMap((word) => (word.text?.startsWith('-') ? [] : call.read(word))),
        ],
};

/** Letters of options of `ps`, with a dash or without; what stands behind `-o` and its like are none. */
const psLetters = ({ args }: Call): readonly string[] =>
  args.flatMap(({ text = '' }, at) =>
    /^-?[A-Za-z]+$/u.test(text) && !/^-[a-zA-Z]*[opCqGgUutk]$/u.test(args[at - 1]?.text ?? '') ? [text] : [],
  );
/** By a column, or because somebody is looked for. */
const showsOwners = (call: Call): boolean =>
  call.args.some(({ text }) => text === undefined || /user|uid|group|gid/u.test(text)) ||
  psLetters(call).some((text) => /[fFluUgGj]/u.test(text));
/** Where a program waits is shown to who may look into it. */
const showsInside = (call: Call): boolean =>
  call.args.some(({ text }) => text?.includes('wchan')) || psLetters(call).some((text) => text.includes('l'));

/** `ps e` does, `ps -e` does not. */
const showsEnvironment = ({ args }: Call): boolean =>
  args.some(
    ({ text }, at) =>
      text === undefined ||
      text.includes('environ') ||
      (/^[A-Za-z]*e/u.test(text) && !/^-[a-zA-Z]*[opCUuGgtqks]$/u.test(args[at - 1]?.text ?? '')),
  );

function mountFindings(call: Call): readonly CommandFinding[] {
  return call.floorsIn(call.args.slice(0, 1));
}

/** To stop the program that enforces the policy is to have none. */
export function ownFindings(_: unknown, call: Call): CommandFinding[] {
  return call.args.some(({ text }) => text !== undefined && /orrery/iu.test(text))
    ? [floor('own-service', 'It would stop what enforces this policy.')]
    : [];
}

function onDisk(call: Call): readonly CommandFinding[] {
  const disks = call.args.filter(({ text, dynamic }) => dynamic || text?.startsWith('/dev/'));
  return [
    call.is('destructive', 'makes a disk forget what is on it.'),
    call.ask('privileged', 'works on disks.'),
    ...disks.flatMap((word) => call.write(word)),
    ...call.args.flatMap((word) =>
      word.text?.startsWith('-') || word.text?.startsWith('/dev/') ? [] : call.write(word),
    ),
  ];
}

function dd(call: Call): readonly CommandFinding[] {
  const parts = call.args.flatMap((word): readonly CommandFinding[] => {
    const match = /^(if|of|bs|count|skip|seek|ibs|obs|status|conv|iflag|oflag|cbs|iseek|oseek)=(.*)$/su.exec(
      word.text ?? '',
    );
    if (match === null) return [call.ask('privileged', `${showWord(word)} is not known.`)];
    const [, key = '', value = ''] = match;
    const path = { glyphs: word.glyphs.slice(key.length + 1), text: value, home: false, dynamic: false };
    return key === 'if' ? call.read(path) : key === 'of' ? call.write(path) : [];
  });
  return [call.is('destructive', 'overwrites what it writes to.'), ...parts];
}
