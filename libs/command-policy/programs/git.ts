import { has, literal } from '../words/index.js';
import { each, plainly, program, subcommands, type ProgramJudge, type ProgramTable } from '../calls/index.js';

const LOOK =
  '-abcdghiklmMnprRsStuvwzCDBEFLPX -# -n: -U: -G: -S: -L: -l: --oneline --graph --stat? --shortstat --numstat --name-only --name-status --patch --no-patch --decorate? --all --branches? --tags? --remotes? --since: --until: --after: --before: ' +
  '--author: --committer: --grep: --max-count: --skip: --format: --pretty? --abbrev-commit --abbrev? --date: --merges --no-merges --first-parent --reverse --follow --cached --staged --color? --no-color --word-diff? ' +
  '--ignore-all-space --ignore-space-change --ignore-blank-lines --diff-filter: --summary --raw --porcelain? --short --branch --long --untracked-files? --ignored? --show-stash --ahead-behind --verbose --quiet --check --exit-code ' +
  '--no-ext-diff --no-textconv --minimal --patience --histogram --find-renames? --relative? --others --exclude-standard --full-name --stage --modified --deleted --show-toplevel --is-inside-work-tree --git-dir --verify --symbolic-full-name --abbrev-ref ' +
  '--exact-match --always --dirty? --long --match: --contains --merged --no-merged --sort: --points-at: --list --show-current --left-right --cherry-pick --count --heads --topo-order --date-order --source --root --line-porcelain --show-email --incremental --error-unmatch --ignore-case --line-number --files-with-matches --extended-regexp --fixed-strings --perl-regexp --no-pager --column? --no-column --no-renames --dirstat?';

/** Outside of a repository, and with names of files, these read files. */
const look = program('read', LOOK, 'read');
const change = plainly('write', 'changes the repository.');

/** Lists without operands, changes with them. */
const lister = (options: string, words: RegExp): ProgramJudge => {
  const listing = program('read', `${LOOK} ${options}`, 'text');
  return (call) => {
    const operands = call.args.filter(({ text }) => text === undefined || !text.startsWith('-'));
    const isListing = operands.every(({ text }, at) => at === 0 && text !== undefined && words.test(text));
    const removes = call.args.some(({ text }) => /^-(?:-delete|[a-zA-Z]*[dDfM][a-zA-Z]*$|-force)/u.test(text ?? ''));
    if (removes) return [call.is('destructive', 'takes something away.')];
    if (isListing || call.args.some(({ text }) => text === '--list' || text === '-l')) return listing(call);
    return [call.ask('privileged', 'changes the repository.')];
  };
};

const repository = subcommands({
  globals:
    '-C% -P -p --no-pager --no-replace-objects --literal-pathspecs --bare --no-optional-locks -c:!privileged --exec-path:!privileged --git-dir%!privileged --work-tree%!privileged --config-env:!privileged --paginate!privileged',
  commands: {
    ...each(
      'status log diff show blame shortlog rev-parse rev-list describe ls-files ls-tree cat-file merge-base name-rev count-objects whatchanged diff-tree diff-index cherry show-branch show-ref for-each-ref check-ignore var version range-diff',
      look,
    ),
    branch: lister('', /^$/u),
    tag: lister('', /^$/u),
    remote: lister('', /^show$/u),
    stash: (call) =>
      /^(?:list|show)$/u.test(call.args[0]?.text ?? '')
        ? look(call.under('stash', literal(''), call.args.slice(1)))
        : [call.ask('destructive', 'puts work away.')],
    reflog: lister('', /^show$/u),
    worktree: lister('', /^list$/u),
    config: lister('--get --get-all --list --show-origin --local --global', /^(?:list|get)$/u),
    grep: program('read', LOOK, 'read', { skip: (args) => (has(args, '-e') ? 0 : 1) }),
    ...each('fetch pull push clone ls-remote', plainly('network', 'reaches another repository.')),
    ...each('reset clean checkout restore rm switch gc prune', plainly('destructive', 'throws work away.')),
    ...each('add mv', change),
    ...each(
      'commit merge rebase cherry-pick revert am apply bisect submodule filter-branch filter-repo init archive bundle notes replace update-ref update-index symbolic-ref hook maintenance lfs difftool mergetool instaweb gui daemon send-email request-pull format-patch sparse-checkout subtree svn credential',
      (call) => [call.ask('privileged', 'may run hooks and other programs.'), ...call.floorsIn(call.args)],
    ),
  },
});

/** What a repository's own configuration names is run to look at it, too: `core.fsmonitor`, diff drivers, `gpg.program`. */
const git: ProgramJudge = (call) => {
  const isAsked = /^(?:--version|version|--help)$/u.test(call.args[0]?.text ?? '');
  if (isAsked) return repository(call);
  const configured = call.ask('read', 'runs programs that the configuration of a repository names.', {
    rule: 'program.git.configuration',
  });
  return [...repository(call), configured];
};

export const GIT: ProgramTable = {
  git,
  ...each('svn hg cvs bzr fossil gh glab hub tig gitk', (call) => [call.ask('network', 'reaches another repository.')]),
};
