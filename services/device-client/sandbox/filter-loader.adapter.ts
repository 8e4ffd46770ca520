import { hasFilterFor, PRCTL, seccompFilter } from './seccomp-filter.js';

/*
 * Who cannot load a filter of calls has it loaded by perl(1), which calls the kernel with numbers and bytes as they are. It is told only how: the
 * filter itself comes at descriptor 3, in a line that mount(8) takes for a comment.
 */

/** Of linux/prctl.h and linux/seccomp.h. */
const [SET_NO_NEW_PRIVS, SET_SECCOMP, MODE_FILTER] = [38, 22, 2] as const;

/** What it says of a language that is not installed would be said by every command; it takes this out again. */
export const BEFORE_LOADER = 'export PERL_BADLANG=0; ';

/**
 * The command line before that of a command. `-t`: nothing in the environment tells it what to load (PERL5OPT, PERL5LIB), `-f`: no file of the
 * machine either, `-X`: what it thinks of its environment is not said. Without a filter nothing is started.
 */
export const filterLoader = (perl: string): string[] => [
  perl,
  '-tXfe',
  [
    'open F,"<&=3"or die"filter: $!\\n"',
    'while(<F>){$f=pack"H*",$1 if/^#(\\w+)/}close F',
    '$p=pack"Sx6P",length($f)/8,$f',
    'delete$ENV{PERL_BADLANG}',
    `for([${SET_NO_NEW_PRIVS},1],[${SET_SECCOMP},${MODE_FILTER},$p]){syscall(${hasFilterFor(process.arch) ? PRCTL[process.arch] : -1},@$_,(0)x(5-@$_))==0 or die"filter: $!\\n"}`,
    'exec{$ARGV[0]}@ARGV;die"$ARGV[0]: $!\\n"',
  ].join(';'),
  '--',
];

/** The filter as the loader reads it; `internet` as in {@link seccompFilter}. Undefined: there is none for this machine. */
export const filterLine = (internet: boolean): string | undefined =>
  hasFilterFor(process.arch) ? `#${Buffer.from(seccompFilter(process.arch, internet)).toString('hex')}\n` : undefined;
