import { dynamic, floor, type CommandFinding } from './finding.js';

/** Variables that change nothing but how something looks or is told. */
const HARMLESS =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|CLICOLOR|CLICOLOR_FORCE|FORCE_COLOR|DEBIAN_FRONTEND|NEEDRESTART_MODE|BLOCKSIZE|BLOCK_SIZE|POSIXLY_CORRECT|TIME_STYLE|QUOTING_STYLE|[a-z_][a-z0-9_]*)$/u;

/** Variables that say what is run, what is loaded, or where from. */
const DANGEROUS =
  /^(?:LD_.*|DYLD_.*|PATH|IFS|ENV|BASH_.*|BASHOPTS|SHELLOPTS|SHELL|PS[0-4]|PROMPT_COMMAND|CDPATH|GLOBIGNORE|EXECIGNORE|FPATH|ZDOTDIR|HOME|TMPDIR|TMP|TEMP|GIT_.*|SSH_.*|SUDO_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|LESS.*|MORE|MAN.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|NODE_.*|NPM_.*|npm_.*|PHP.*|LUA.*|JAVA.*|_JAVA.*|JDK.*|CLASSPATH|GO.*|CARGO.*|RUST.*|MAKE.*|CC|CXX|CFLAGS|LDFLAGS|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|MALLOC_.*|GLIBC_.*|TAR_OPTIONS|TAPE|GZIP|BZIP2?|XZ_.*|ZSTD_.*|ZIP.*|UNZIP.*|RSYNC_.*|CVS_.*|SVN_.*|GPG_.*|GNUPG.*|AWK.*|SED|GREP_OPTIONS|TERMINFO.*|TERMCAP|TERMPATH|INPUTRC|HIST.*|DOCKER_.*|KUBE.*|HELM_.*|AWS_.*|SYSTEMD_.*|DBUS_.*|XDG_.*|DISPLAY|WAYLAND_.*|XAUTHORITY|OPENSSL_.*|SSL_.*|CURL_.*|WGETRC|.*_PROXY|.*_proxy|NIX_.*|APT_.*|DPKG_.*|DEBUGINFOD.*|GDB.*|PG.*|MYSQL_.*|ORRERY.*|QT_.*|GTK_.*|GIO_.*|G_.*|KRB5.*|BASE_.*|PROFILE.*|ASAN_.*|PARALLEL.*|FIGNORE|MAILPATH|MAILCHECK|READNULLCMD|NULLCMD|COMP_.*|TIMEFORMAT|PIPESTATUS|EUID|UID|OLDPWD|PWD|RANDOM|USER|LOGNAME)$/u;

/** Of a variable that a shell sets for itself: only those that somebody listens to matter. */
export function variableFindings(name: string, exported: boolean): CommandFinding[] {
  if (name === 'LD_PRELOAD' || name === 'LD_AUDIT')
    return [dynamic('environment', `${name} loads foreign code into every program.`)];
  if (DANGEROUS.test(name) && !HARMLESS_LOWER.test(name))
    return [dynamic('environment', `The variable ${name} changes what programs run or load.`)];
  if (exported && !HARMLESS.test(name))
    return [
      {
        kind: 'program',
        class: 'privileged',
        atLeast: 'approve',
        rule: 'environment',
        reason: `What the variable ${name} changes is not known.`,
      },
    ];
  return [];
}

/** Shells give lower-case names no meaning, except proxies and npm. */
const HARMLESS_LOWER = /^(?!npm_|.*_proxy$)[a-z_][a-z0-9_]*$/u;

/** Of a variable that is given to a command beside its text; names of an application's own are its business. */
export function givenVariableFindings(name: string): CommandFinding[] {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name)) return [floor('environment', 'The name of a variable is not a name.')];
  return DANGEROUS.test(name) && !HARMLESS_LOWER.test(name) ? variableFindings(name, true) : [];
}
