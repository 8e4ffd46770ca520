import { type Call, each, program, subcommands, type ProgramJudge, type ProgramTable } from '../calls/index.js';
import { ownFindings } from './system.js';
import { type CommandFinding, optionsOf, takeApart, type View } from '../words/index.js';

/** What the machine's administrator looks at: disks, filters of packets, other people's programs. */
const ADMIN: readonly View[] = ['privileged-read'];
const DISKS: readonly View[] = ['privileged-read', 'host-devices'];
/** With the rights of somebody else, or of files that a check opens to write. */
const WHOLE: readonly View[] = ['whole-machine'];
const FILTER: readonly View[] = ['host-network', 'privileged-read'];

const read = (options: string, views: readonly View[] = []) => program('read', options, 'text', { views });

const changes: ProgramJudge = (call) => [
  call.is('privileged', 'may change the system.'),
  ...call.floorsIn(call.args),
  ...ownFindings(undefined, call),
];
const runs: ProgramJudge = (call) => [
  call.ask('privileged', 'runs code that somebody else wrote.', { grantable: false }),
  ...call.floorsIn(call.args),
];

/** Known by its whole line: what else it can do is as bad as it gets. */
const onlyAs =
  (lines: RegExp, does: string, views: readonly View[] = [], otherwise: ProgramJudge = changes): ProgramJudge =>
  (call) => {
    const texts = call.args.map(({ text }) => text);
    const isKnown = texts.every((text) => text !== undefined && !/\s/u.test(text)) && lines.test(texts.join(' '));
    return isKnown ? [{ ...call.is('read', does), views }] : otherwise(call);
  };

const REPORT =
  '-aHPv -o: -O: -S: --all --columns --headings: --noheadings --nosuffix --options: --separator: --sort: --select: --segments --readonly --reportformat: --rows --units: --unbuffered --aligned --verbose --unquoted --nameprefixes --partial';

const SMART =
  '-aAcHijx -d: -f: -l: -n: -q: -T: --all --attributes --capabilities --device: --format: --health --identify? --info --json? --log: --nocheck: --quietmode: --scan --scan-open --tolerance: --xall';

/** `-l scterc,70,70` sets what `-l scterc` shows. */
const smartctl = program('read', SMART, 'text', {
  views: DISKS,
  also: ({ given }, call) =>
    given.some(({ name, value }) => (name === '-l' || name === '--log') && !/^[a-z]+$/u.test(value?.text ?? ''))
      ? [call.ask('privileged', 'may set what it shows.')]
      : [],
});

const ZFS_LIST = '-DdgHiLlnpPqrsStvxy -o: -t: -d: -s: -T:';
const zpool = subcommands({
  globals: '',
  commands: { ...each('status list get iostat history events version', read(ZFS_LIST, DISKS)) },
});
const zfs = subcommands({ globals: '', commands: each('list get version', read('-Hpr -o: -t: -d: -s: -S:', DISKS)) });

/** A certificate or a request, as it says of itself. */
const X509 =
  '= -in< -inform: -noout -text -enddate -startdate -dates -subject -issuer -serial -fingerprint -hash -subject_hash -issuer_hash -pubkey -modulus -email -purpose -ocsp_uri -ocspid -alias -checkend: -checkhost: -checkip: -checkemail: -ext: -nameopt: -certopt: -dateopt: -sha1 -sha256 -sha512 -md5 -verify -out>';
const DIGEST = '= -r -c -hex -binary -md5 -sha1 -sha224 -sha256 -sha384 -sha512 -sha3-256 -blake2b512 -list -out>';
const VERIFY =
  '= -CAfile< -untrusted< -trusted< -CRLfile< -crl_check -crl_check_all -partial_chain -purpose: -show_chain -verbose -verify_hostname: -verify_ip: -no-CAfile -no-CApath -x509_strict -attime: -no_check_time';
const S_CLIENT =
  '= -connect: -servername: -showcerts -brief -starttls: -tls1_2 -tls1_3 -no_ign_eof -quiet -status -verify_hostname: -verify_return_error -alpn: -prexit -ign_eof';

/** What stands before a colon says how to fetch it. */
const fetched = (options: string, operands: 'none' | 'read') =>
  program('read', options, operands, {
    also: (_, call) =>
      call.args.some(({ text }) => /^[a-z][\w+.-]*:/iu.test(text ?? ''))
        ? [call.ask('network', 'may fetch what it looks at.')]
        : [],
  });

/** What it is given it says to the server, which can be an order: nothing, or the one letter that ends it. */
function isSilent({ invocation: { input, redirects } }: Call): boolean {
  if (input.kind === 'none') return true;
  if (input.kind === 'file') return redirects.some(({ target }) => target.text === '/dev/null');
  return (
    input.kind === 'pipe' &&
    input.upstream.every(({ words }) =>
      /^(?:echo(?: -n)?(?: Q)?|true)$/u.test(words.map(({ text = '?' }) => text).join(' ')),
    )
  );
}

/** Asks a server of this machine for its certificate; any other is another machine. */
const sClient: ProgramJudge = (call) => {
  const { given, operands, unknown } = takeApart(call.args, optionsOf(S_CLIENT));
  const at = given.findLast(({ name }) => name === '--connect')?.value?.text ?? '';
  return operands.length === 0 && unknown.length === 0 && isThisMachine(at) && isSilent(call)
    ? [{ ...call.is('read', 'asks this machine.'), views: ['loopback'] }]
    : [call.is('network', 'opens connections.')];
};

/** `localhost`, with a port or without. */
const isThisMachine = (text: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)(?::\d{1,5})?$/u.test(text);
const isLocalUrl = (text: string | undefined): boolean =>
  /^(?:https?:\/\/)?(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:\/[\w./~:+,=%-]*)?$/u.test(text ?? '');

const LOCAL_CURL =
  '-46fgiIkNqsSv -m: -o> -w: -X: --silent --show-error --fail --fail-with-body --include --head --insecure --ipv4 --ipv6 --max-time: --connect-timeout: --output> --write-out: --request: --http1.1 --http2 --compressed --no-progress-meter --verbose --no-buffer';

/** Asks a service of this machine, and follows it nowhere else. A question with parameters can be an order. */
export function asksThisMachine(call: Call): readonly CommandFinding[] | undefined {
  const { given, operands, unknown } = takeApart(call.args, optionsOf(LOCAL_CURL));
  const isPlain = given.every(({ name, value }) => {
    if (name === '-X' || name === '--request') return value?.text === 'GET' || value?.text === 'HEAD';
    if (name === '-w' || name === '--write-out') return value?.text !== undefined && !/^@|%output/u.test(value.text);
    return true;
  });
  if (!isPlain || unknown.length > 0 || operands.length === 0 || !operands.every(({ text }) => isLocalUrl(text)))
    return undefined;
  return [
    { ...call.is('read', 'asks this machine.'), views: ['loopback'] },
    ...given.flatMap(({ option, value }) => (option.use === 'write' && value !== undefined ? call.write(value) : [])),
  ];
}

/** Whether somebody listens on a port of this machine. */
export const probesThisMachine = (call: Call): boolean =>
  /^(?:-[zvnw46]*z[zvnw46]*|-[vn46]+ -[vn46]*z[vn46]*)(?: (?:-w ?)?\d+)? (?:localhost|127\.0\.0\.1|::1) \d{1,5}$/u.test(
    call.args.map(({ text }) => text ?? '?').join(' '),
  );

const LOCAL = '(?:-h (?:localhost|127\\.0\\.0\\.1) |--host=localhost )?(?:-[pP] ?\\d+ )?';
const version = onlyAs(/^(?:--version|-V|-v)$/u, 'says what it is.', [], runs);

/** Programs that say whether the machine and its servers are as they should be. */
export const CHECKS: ProgramTable = {
  ...each('lvs pvs vgs', read(REPORT, DISKS)),
  ...each('lvdisplay vgdisplay pvdisplay', read('-acCmsv --columns --maps --short --units: --verbose', DISKS)),
  smartctl,
  zpool,
  zfs,
  mdadm: onlyAs(
    /^(?:--detail|-D|--query|-Q|--examine|-E)(?: --brief| --scan| \/dev\/md[\w/]+)+$/u,
    'shows arrays.',
    DISKS,
  ),
  nvme: onlyAs(/^(?:list|list-subsys|smart-log \/dev\/nvme\d\w*)$/u, 'shows disks.', DISKS),
  ufw: onlyAs(/^(?:status(?: verbose| numbered)?|version|app list)$/u, 'shows the filter.', FILTER),
  'firewall-cmd': onlyAs(
    /^(?:--state|--get-(?:active-zones|default-zone|zones)|--list-(?:all|all-zones|ports|services)|--zone=\w+ --list-(?:all|ports|services))$/u,
    'shows the filter.',
    FILTER,
  ),
  ...each(
    'iptables ip6tables',
    onlyAs(
      /^(?:-t (?:filter|nat|mangle|raw) )?(?:-S(?: [A-Z]+)?|(?:-[Lnv]*n[Lnv]*|-[nvL]+ -n|-L -n|-L [A-Z]+ -n|-nvL --line-numbers|-L -n --line-numbers|-L -n -v|-L -v -n))$/u,
      'shows the filter.',
      FILTER,
    ),
  ),
  ...each('iptables-save ip6tables-save', onlyAs(/^(?:-t \w+)?$/u, 'shows the filter.', FILTER)),
  nft: onlyAs(
    /^(?:-a |-n )*list (?:ruleset|tables|chains|sets|table (?:inet|ip|ip6) \w+)$/u,
    'shows the filter.',
    FILTER,
  ),
  'fail2ban-client': onlyAs(/^(?:status(?: [\w-]+)?|ping|version)$/u, 'says what is barred.', ADMIN),
  chronyc: onlyAs(
    /^(?:-n |-c |-N )*(?:tracking|sources|sourcestats|activity|ntpdata|rtcdata|serverstats)(?: -v)?$/u,
    'says what time it is.',
    ['loopback'],
  ),
  ntpq: onlyAs(/^-n?pn?$/u, 'says what time it is.', ['loopback']),
  lsb_release: read('-acdhirsv --all --codename --description --id --release --short'),
  ...each('java javac', onlyAs(/^(?:-version|--version|-fullversion)$/u, 'says what it is.', [], runs)),
  ...each('gcc g++ cc clang ld as make gmake cmake ninja', version),
  nginx: onlyAs(
    /^-[vVh]$/u,
    'says what it is.',
    [],
    onlyAs(/^(?:-t|-tq|-qt|-t -q|-q -t)$/u, 'checks its settings.', WHOLE),
  ),
  sshd: onlyAs(/^(?:-[tTV]|-T -C [\w=,.@:-]+)$/u, 'checks its settings.', WHOLE),
  ...each('apachectl apache2ctl', onlyAs(/^(?:-[tSMvV]|configtest)$/u, 'checks its settings.', ADMIN)),
  ...each('httpd apache2', onlyAs(/^-[vV]$/u, 'says what it is.')),
  ...each('haproxy', onlyAs(/^(?:-vv?|-c -f \/etc\/haproxy\/haproxy\.cfg)$/u, 'checks its settings.', ADMIN)),
  'named-checkconf': onlyAs(/^(?:-z)?$/u, 'checks its settings.', ADMIN),
  postconf: onlyAs(/^(?:-[ndM]+|(?:-h )?[a-z][\w ]*)$/u, 'shows its settings.'),
  ...each('postqueue mailq', onlyAs(/^(?:-p)?$/u, 'shows what waits.', WHOLE)),
  ...each('mysqld postgres redis-server named dovecot postfix', onlyAs(/^(?:--version|-V|-v)$/u, 'says what it is.')),
  'redis-cli': onlyAs(
    new RegExp(
      `^${LOCAL}(?:ping|info(?: \\w+)?|dbsize|lastsave|role|time|client list|slowlog get(?: \\d+)?|slowlog len|memory stats|latency latest|--version)$`,
      'iu',
    ),
    'asks this machine.',
    ['loopback'],
  ),
  pg_isready: onlyAs(
    /^(?:(?:-h (?:localhost|127\.0\.0\.1|\/var\/run\/postgresql)|-p \d+|-q|-t \d+|--version)(?: |$))*$/u,
    'asks this machine.',
    ['loopback'],
  ),
  mysqladmin: onlyAs(
    new RegExp(`^${LOCAL}(?:ping|status|version|processlist|extended-status|--version)$`, 'u'),
    'asks this machine.',
    ['loopback'],
  ),
  networkctl: onlyAs(/^(?:--no-pager )?(?:list|status(?: [\w.-]+)?|lldp)?(?: --no-pager)?$/u, 'shows interfaces.', [
    'host-network',
  ]),
  // It asks by a socket of the internet.
  ethtool: onlyAs(/^(?:-[iSgkcaTP] )?[\w.@-]+$/u, 'shows an interface.', ['host-network', 'whole-machine']),
  bridge: onlyAs(/^(?:-[sdj] )*(?:link|fdb|vlan|mdb)(?: show)?$/u, 'shows bridges.', ['host-network']),
  tc: onlyAs(/^(?:-s |-d )*(?:qdisc|class|filter)(?: show)?(?: dev [\w.@-]+)?$/u, 'shows queues.', ['host-network']),
  getenforce: onlyAs(/^$/u, 'says how it is set.'),
  sestatus: onlyAs(/^(?:-v)?$/u, 'says how it is set.'),
  ...each('aa-status apparmor_status', onlyAs(/^(?:--json|--enabled|--profiled)?$/u, 'says how it is set.', ADMIN)),
  auditctl: onlyAs(/^-[ls]$/u, 'shows its rules.', ADMIN),
  swapon: onlyAs(/^(?:--show|-s|--summary)(?: --bytes| --noheadings)*$/u, 'shows what is used.'),
  losetup: onlyAs(/^(?:-l|-a|--list|--all)$/u, 'shows what is used.', ['host-devices']),
  'update-alternatives': onlyAs(/^--(?:display|query|list) [\w.+-]+$|^--get-selections$/u, 'shows choices.'),
  hdparm: onlyAs(/^-[iI] \/dev\/[a-z]+$/u, 'shows disks.', DISKS),
  udevadm: onlyAs(/^info (?:--query=(?:all|property) )?(?:--name=|-n )?\/dev\/[\w/]+$/u, 'shows a device.', [
    'host-devices',
  ]),
  visudo: onlyAs(/^-c$/u, 'checks its settings.', WHOLE),
  chage: onlyAs(/^-l [\w.-]+$/u, 'shows an account.', WHOLE),
  passwd: onlyAs(/^-S [\w.-]+$/u, 'shows an account.', WHOLE),
  faillock: onlyAs(/^(?:--user [\w.-]+)?$/u, 'shows an account.', ADMIN),
  locate: read('-bceilLqrsSw -n: -l: --basename --count --existing --ignore-case --limit: --statistics'),
  getsebool: onlyAs(/^(?:-a|\w+)$/u, 'says how it is set.'),
  ...each(
    'iotop',
    onlyAs(/^-[boPak]*b[boPak]*(?: -n \d+)?$|^-[oPak]*b[oPak]*n \d+$/u, 'shows who reads and writes.', [
      'host-processes',
      'whole-machine',
    ]),
  ),
  pwdx: read('', ['host-processes', 'whole-machine']),
  pmap: read('-xXdpq', ['host-processes', 'whole-machine']),
  ...each('cpupower', onlyAs(/^(?:frequency-info|idle-info)$/u, 'shows the processor.')),
  ...each('ipcs', read('-amqstclup -i:', WHOLE)),
  ...each('errno factor', read('-lsw')),
  openssl: subcommands({
    globals: '',
    commands: {
      version: program('read', '-abdefmprvc', 'none'),
      ...each('x509 req crl', fetched(X509, 'none')),
      ...each('dgst sha1 sha256 sha384 sha512 md5', program('read', DIGEST, 'read')),
      verify: fetched(VERIFY, 'read'),
      ciphers: program('read', '= -v -V -s -tls1_2 -tls1_3 -stdname', 'text'),
      s_client: sClient,
    },
  }),
};
