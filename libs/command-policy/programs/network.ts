import {
  type Call,
  each,
  mayBeOption,
  optionFindings,
  plainly,
  program,
  seeing,
  subcommands,
  type ProgramJudge,
  type ProgramTable,
} from '../calls/index.js';
import {
  floor,
  type CommandFinding,
  has,
  optionsOf,
  takeApart,
  unknownOption,
  literal,
  showWord,
  type Word,
} from '../words/index.js';
import { asksThisMachine, probesThisMachine } from './checks.js';

const net = (options: string) => program('network', options, 'text', { does: 'reaches other machines.' });

const CURL =
  '-0#aBfgGiIjJklLnNqRsSv46 -A: -b: -c> -C: -D> -d: -e: -F: -H: -m: -o> -P: -Q: -r: -t: -T< -u: -U: -w: -x: -X: -y: -Y: -z: -K!privileged -E<!privileged ' +
  '--silent --show-error --fail --fail-with-body --location --head --include --insecure --verbose --compressed --get --max-time: --connect-timeout: --retry: --retry-delay: ' +
  '--retry-max-time: --retry-connrefused --retry-all-errors --output> --output-dir> --create-dirs --request: --header: --data: --data-raw: --data-urlencode: --data-binary: --json: --form: --user: ' +
  '--user-agent: --referer: --cookie: --cookie-jar> --dump-header> --write-out: --resolve: --range: --url: --http1.1 --http2 --ipv4 --ipv6 --no-progress-meter --progress-bar ' +
  '--proxy: --noproxy: --limit-rate: --upload-file< --cacert< --continue-at: --max-redirs: --tlsv1.2 --tlsv1.3 --location-trusted --remote-time --path-as-is --globoff --no-buffer';

const curlOptions = optionsOf(`${CURL} -O --remote-name --remote-header-name`);

function curl(call: Call): readonly CommandFinding[] {
  const asked = asksThisMachine(call);
  if (asked !== undefined) return asked;
  const args = takeApart(call.args, curlOptions);
  const values = args.given.flatMap(({ name, value }) => (value !== undefined && SENDS.test(name) ? [value] : []));
  return [
    call.is('network', 'reaches other machines.'),
    ...args.unknown.map((option) => unknownOption('curl', option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...(has(args, '-O', '--remote-name') ? call.write(literal('download')) : []),
    ...values.flatMap((value) =>
      /@|</u.test(value.text ?? '@')
        ? [call.ask('network', 'would send the content of a file.'), ...sentFile(value, call)]
        : [],
    ),
    ...args.operands.flatMap((word) => (/^file:/iu.test(word.text ?? '') ? fileUrl(word, call) : [])),
  ];
}
const SENDS = /^(?:-d|-F|-b|-H|--data.*|--form|--json|--cookie|--header)$/u;

function sentFile(value: Word, call: Call): readonly CommandFinding[] {
  const path = /[@<]([^;,]*)/u.exec(value.text ?? '')?.[1];
  return path === undefined || path === '-' ? [] : call.read(literal(path));
}

function fileUrl(word: Word, call: Call): readonly CommandFinding[] {
  return call.read(literal((word.text ?? '').replace(/^file:(?:\/\/[^/]*)?/iu, '')));
}

const nc: ProgramJudge = (call) => {
  const runs = call.args.some(({ text }) =>
    /^(?:-[a-zA-Z0-9]*[ec].*|--exec|--sh-exec|--lua-exec)(?:=.*)?$/u.test(text ?? ''),
  );
  if (probesThisMachine(call)) return [{ ...call.is('read', 'asks this machine.'), views: ['loopback'] }];
  return [
    call.is('network', 'opens connections.'),
    ...(runs ? [floor('reverse-shell', 'A shell would be given to whoever is connected.')] : []),
  ];
};

const socat: ProgramJudge = (call) => [
  call.ask('privileged', 'connects anything with anything.'),
  ...(call.args.some(({ text }) => /(?:EXEC|SYSTEM|SHELL):/iu.test(text ?? ''))
    ? [floor('reverse-shell', 'A shell would be given to whoever is connected.')]
    : []),
];

/** A copy between this machine and, when a name has a colon, another one. */
const isRemote = ({ text }: Word): boolean => /^(?:[^/]*:|rsync:\/\/|sftp:|scp:)/u.test(text ?? '');

const RSYNC =
  '-aAcCdDEgHhiIklLnOopPqrRStuvWxXyz0 -b -B: -f:!privileged -T% --archive --verbose --recursive --links --perms --times --group --owner --devices --dry-run --progress --human-readable --stats ' +
  '--exclude: --exclude-from< --include: --include-from< --files-from< --checksum --update --compress --partial --partial-dir> --inplace --append --itemize-changes --numeric-ids --bwlimit: --timeout: ' +
  '--delete!destructive --delete-before!destructive --delete-during!destructive --delete-after!destructive --delete-delay!destructive --delete-excluded!destructive --remove-source-files!destructive --force!destructive --no-owner --no-group --no-perms --size-only --ignore-existing --existing --max-size: --min-size: --whole-file --one-file-system --relative --mkpath --chmod:!privileged --chown:!privileged --info: --hard-links --acls --xattrs --sparse --quiet --list-only --contimeout: --port:';

const rsync = program('write', RSYNC, 'text', {
  also: ({ operands }, call) => {
    const remote = operands.some((word) => isRemote(word) || word.dynamic);
    const target = operands.length > 1 ? operands.at(-1) : undefined;
    return [
      ...(remote ? [call.is('network', 'copies from or to another machine.')] : []),
      ...operands.slice(0, -1).flatMap((word) => (isRemote(word) ? [] : call.readTree(word))),
      ...(target === undefined || isRemote(target) ? [] : call.writeTree(target)),
    ];
  },
});

const scp = program('network', '-346ABCpqrTv -l: -P: -i<!privileged -c:', 'text', {
  does: 'copies from or to another machine.',
  also: ({ operands }, call) => [
    ...operands.slice(0, -1).flatMap((word) => (isRemote(word) ? [] : call.readTree(word))),
    ...operands.slice(-1).flatMap((word) => (isRemote(word) ? [] : call.write(word))),
  ],
});

const sshOptions = optionsOf(
  '-46aCkKnNqTtvxXyAfMsG -p: -l: -i<!privileged -c: -m: -b: -B: -e: -I:!privileged -L:!privileged -R:!privileged -D:!privileged -W:!privileged -J: -o:!privileged -F<!privileged -E> -w:!privileged',
);

function ssh(call: Call): readonly CommandFinding[] {
  const args = takeApart(call.args, sshOptions, true);
  const remote = args.operands.slice(1);
  return [
    { ...call.is('network', 'runs commands on another machine.'), grantable: false },
    ...args.unknown.map((option) => unknownOption('ssh', option)),
    ...args.given.flatMap((given) => optionFindings(given, call)),
    ...args.operands
      .slice(0, 1)
      .filter(mayBeOption)
      .map((word) => unknownOption('ssh', showWord(word))),
    ...call.floorsIn(remote),
  ];
}

const ipShow: ProgramJudge = (call) => {
  const [verb, ...rest] = call.args;
  const isShow =
    verb === undefined || verb.text === undefined || /^(?:sh|sho|show|l|ls|li|lis|list|lst|get)$/u.test(verb.text);
  return isShow && ![verb, ...rest].some((word) => word?.dynamic === true)
    ? [call.is('read', 'shows what is set.')]
    : [call.is('privileged', 'changes the network.')];
};
const IP_OBJECTS =
  'a ad add addr addre address l li lin link r ro rou rout route n ne nei neigh neighbour ru rule maddress mroute tunnel tuntap ntable xfrm token tcp_metrics stats vrf';

const ss = program(
  'read',
  '-0460abdEhHilmMnNoOrsStuVwxzZ -e!owners -p!whole-machine -f: -A: -F<!privileged -K!privileged -D> --tcp --udp --listening --numeric --processes!whole-machine --all --summary --extended!owners --memory --info --family: --query: --no-header --resolve --options --unix --raw',
  'text',
  { views: ['host-network'] },
);

/** Programs that reach other machines, or say how this one is connected. */
export const NETWORK: ProgramTable = {
  curl,
  wget: program(
    'network',
    '-46bcFkNqSvx -O> -o> -P> -a> -e!privileged -t: -T: -U: -w: -i<!privileged -Q: -l: -r -p -np -nc -nv --quiet --output-document> --output-file> --directory-prefix> --tries: --timeout: --no-verbose --spider --server-response ' +
      '--header: --user-agent: --no-check-certificate --continue --timestamping --max-redirect: --method: --show-progress --no-clobber --content-disposition --connect-timeout: --read-timeout: --retry-connrefused --waitretry:',
    'text',
    {
      does: 'reaches other machines.',
      also: (args, call) =>
        has(args, '-O', '--output-document', '-P', '--directory-prefix') ? [] : call.write(literal('download')),
    },
  ),
  ...each(
    'ping ping4 ping6 fping arping hping3',
    net('-46aAbBDfhLnOqrRUvV -c: -i: -I: -l:!privileged -m: -M: -p: -Q: -s: -S: -t: -T: -w: -W:'),
  ),
  ...each(
    'dig nslookup host drill delv kdig whois resolvectl systemd-resolve',
    plainly('network', 'asks name servers, and so tells them something.'),
  ),
  ...each('traceroute traceroute6 tracepath mtr tcptraceroute', plainly('network', 'reaches other machines.')),
  ...each(
    'nmap masscan telnet ftp lftp tftp sftp smbclient rclone aws gcloud az gsutil s3cmd mail mailx sendmail mutt swaks finger nmcli iwconfig openvpn wg wg-quick rsh rlogin rexec mosh autossh sshfs sshpass ssh-copy-id ssh-keyscan ab wrk hey siege iperf iperf3 speedtest ngrok cloudflared tailscale torsocks tor proxychains websocat grpcurl httpie http https xh aria2c axel youtube-dl yt-dlp lynx links w3m elinks',
    plainly('network', 'reaches other machines.'),
  ),
  ...each('nc ncat netcat nc.openbsd nc.traditional', nc),
  socat,
  ssh,
  scp,
  rsync,
  ip: subcommands({
    globals:
      '= -4 -6 -0 -B -M -V -s -stats -statistics -d -details -r -resolve -h -human -iec -j -json -p -pretty -o -oneline -br -brief -c? -color? -f: -family: -N -Numeric -t -timestamp -ts -tshort',
    commands: { ...each(IP_OBJECTS, seeing(['host-network'], ipShow)), monitor: program('read', '', 'text') },
  }),
  ss,
  netstat: program(
    'read',
    '-46AacCFlMnNorsStuUvWwxz -e!owners -giI!whole-machine -p!whole-machine --tcp --udp --listening --numeric --programs!whole-machine --all --route --interfaces!whole-machine --statistics',
    'text',
    { views: ['host-network'] },
  ),
  // Behind a wall there are no sockets of the internet to ask by.
  ifconfig: program('read', '-asv', 'text', {
    views: ['host-network', 'whole-machine'],
    also: ({ operands }, call) =>
      operands.length > 1 || operands.some(({ dynamic }) => dynamic)
        ? [call.is('privileged', 'changes the network.')]
        : [],
  }),
  route: program('read', '-46neFCv', 'none', { views: ['host-network'] }),
  arp: program('read', '-aenvA -H: -i: -d!privileged -s!privileged -f<!privileged', 'text', {
    views: ['host-network', 'whole-machine'],
    also: ({ operands }, call) => (operands.length > 1 ? [call.ask('privileged', 'changes the network.')] : []),
  }),
  ...each('iw brctl', (call) => [call.ask('privileged', 'may change the network.')]),
  tcpdump: (call) => [
    call.is('privileged', 'listens to what others say.'),
    ...call.args.flatMap((word, at) => (call.args[at - 1]?.text === '-w' ? call.write(word) : [])),
  ],
  ...each('tshark ngrep dumpcap wireshark ettercap', (call) => [call.is('privileged', 'listens to what others say.')]),
};
