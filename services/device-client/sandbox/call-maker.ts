/*
 * perl(1) calls the kernel with numbers and bytes as they are, and is part of nearly every Linux: it makes a wall in one process where util-linux needs
 * six programs. What it calls comes in words (see kernel-calls.ts); it decides nothing. `-t`: nothing in the environment tells it what to load (PERL5OPT,
 * PERL5LIB), `-f`: no file of the machine either, `-X`: what it thinks of its environment is not said. At the first refusal it ends: without its wall nothing is started.
 */

/** Who waits for another ends as a shell would say it. */
const FORK =
  'defined($c=fork)or f($o);next if!$c;$SIG{INT}=$SIG{TERM}="IGNORE";1 while($p=wait)!=$c&&$p>0;exit($?&127?128+($?&127):$?>>8)';
const WRITE = 'open W,">",$a[0]and syswrite W,$a[1]and close W or f($a[0]);next';
const EACH = '($n,$m,$e)=($1,$2,$3);for(0..$e-1){syscall($n+0,$m+0,$_,0,0,0)==0 or$!==22&&$_?last:f($o)}next';
const ARGUMENT =
  '/^i/?substr($_,1)+0:/^s/?substr$_,1:/^h/?pack"H*",substr$_,1:do{push@k,pack"H*",substr$_,1;pack"Sx6P",length($k[-1])/8,$k[-1]}';

const program = (withheld: string): string =>
  [
    'sub f{print STDERR"wall: $_[0]: $!\\n";exit 125}',
    '$0="wall";$u=umask 0',
    `while(($o=shift)ne"exec"){if($o eq"fork"){${FORK}}if($o=~/^each:(\\d+):(\\d+):(\\d+)/){${EACH}}` +
      `($n,$m,$e,$w)=split/:/,$o;@a=map{${ARGUMENT}}splice@ARGV,0,$m;if($n eq"write"){${WRITE}}` +
      'syscall($n+0,@a)!=-1or$e eq"any"or$!==$e||f("$w @a[0..1]")}',
    'umask$u',
    `%ENV=map{(substr($_,${withheld.length}),$ENV{$_})}grep/^${withheld}/,keys%ENV`,
    'exec{$ARGV[0]}@ARGV;print STDERR"$ARGV[0]: $!\\n";exit 127',
  ].join(';');

/** Arguments with which perl(1) makes the calls of `words`, and is `command` then; names of its variables come with `withheld` before them. */
export const callMaker = ({ words, command, withheld }: CallsToMake): string[] => [
  '-tXfe',
  program(withheld),
  '--',
  ...words,
  'exec',
  ...command,
];

export interface CallsToMake {
  readonly words: readonly string[];
  readonly command: readonly string[];
  readonly withheld: string;
}
