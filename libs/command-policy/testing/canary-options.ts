/** Every option of programs that ordinary systems have, as their help texts list them; `=` where one takes a value. */
export const REAL_OPTIONS: Readonly<Record<string, string>> = {
  cat: '-A --show-all -b --number-nonblank -n -e -E --show-ends --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting',
  tac: '-b --before -r --regex -s --separator=',
  head: '-c --bytes= -n --lines= -q --quiet --silent -v --verbose -z --zero-terminated',
  tail: '-c --bytes= -n --lines= --max-unchanged-stats= -q --quiet --silent -s --sleep-interval= -v --verbose -z --zero-terminated --follow',
  wc: '--files0-from= -c --bytes -m --chars -l --lines -L --max-line-length -w --words',
  sort: '--files0-from= -b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -i --ignore-nonprinting -M --month-sort -h --human-numeric-sort -n --numeric-sort -R --random-sort --random-source= -r --reverse --sort= -V --version-sort --batch-size= -c --check -C --compress-program= --debug -k --key= -m --merge -o --output= -s --stable -S --buffer-size= -t --field-separator= -T --temporary-directory= --parallel= -u --unique -z --zero-terminated',
  uniq: '-c --count -d --repeated -D --all-repeated= -f --skip-fields= --group= -i --ignore-case -s --skip-chars= -u --unique -z --zero-terminated -w --check-chars=',
  cut: '-b --bytes= -c --characters= -d --delimiter= -f --fields= -s -n --complement --only-delimited --output-delimiter= -z --zero-terminated -M',
  paste: '-d --delimiters= -s --serial -z --zero-terminated',
  join: '-a -e -i --ignore-case -j -1 -2 -o -t -v --check-order --nocheck-order --header -z --zero-terminated -k',
  comm: '-1 -2 -3 --check-order --nocheck-order --output-delimiter= --total -z --zero-terminated',
  nl: '-b --body-numbering= -d --section-delimiter= -f --footer-numbering= -h --header-numbering= -i --line-increment= -l --join-blank-lines= -n --number-format= -p --no-renumber -s --number-separator= -v --starting-line-number= -w --number-width=',
  od: '--traditional -j -A --address-radix= --endian= --skip-bytes= -N --read-bytes= -S --strings= -t --format= -v --output-duplicates -w --width= -a -b -c -d -f -i -l -o -s -x',
  fold: '-b --bytes -s --spaces -w --width=',
  fmt: '--width= -c --crown-margin -p --prefix= -s --split-only -t --tagged-paragraph -u --uniform-spacing -w -g --goal=',
  expand: '-i --initial -t --tabs=',
  unexpand: '-a --all --first-only -t --tabs=',
  pr: '--pages= --columns= -a --across -c --show-control-chars -d --double-space -D --date-format= -e --expand-tabs= -F -f --form-feed -h --header= -i --output-tabs= -J --join-lines -W --sep-string= -l --length= -t -m --merge -n --number-lines= -N --first-line-number= -o --indent= -w -r --no-file-warnings -s --separator= -S --omit-header -T --omit-pagination -v --show-nonprinting --width= --page-width=',
  tr: '-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1',
  rev: '-h -V',
  column:
    '-t --table -n --table-name -O --table-order -N --table-columns -l --table-columns-limit -E --table-noextreme -d --table-noheadings -e --table-header-repeat -H --table-hide -R --table-right -T --table-truncate -W --table-wrap -L --keep-empty-lines -J --json -r --tree -i --tree-id -p --tree-parent -c --output-width -o --output-separator -s --separator -x --fillrows -h -V',
  tee: '-a --append -i --ignore-interrupts -p --output-error= --output-error',
  split:
    '-a --suffix-length= --additional-suffix= -b --bytes= -C --line-bytes= -d --numeric-suffixes= -x --hex-suffixes= -e --elide-empty-files -n --filter= -l --lines= --number= -t --separator= -u --unbuffered --verbose',
  csplit:
    '-b --suffix-format= -f --prefix= -k --keep-files --suppress-matched -n --digits= -s --quiet --silent -z --elide-empty-files',
  shuf: '-e -i --echo --input-range= -n --head-count= -o --output= --random-source= -r --repeat -z --zero-terminated',
  seq: '-f --format= -s --separator= -w --equal-width',
  numfmt:
    '--debug -d --delimiter= --field= --format= --from= --from-unit= --grouping --header= --invalid= --padding= --round= --suffix= --to= --to-unit= -z --zero-terminated -M --header --field -l --format',
  ptx: '-G -A --auto-reference --traditional -F --flag-truncation= -M --macro-name= -O --format= -R --right-side-refs -w -S --sentence-regexp= -T -W --word-regexp= -b --break-file= -f --ignore-case -g --gap-size= -i --ignore-file= -o --only-file= -r --references -t --typeset-mode --width=',
  tsort: '',
  cp: '-T -t -a --archive --preserve= --attributes-only --backup= -b --backup --copy-contents -d --no-dereference -f --force -n -i --interactive -H -l --link -L --dereference --no-clobber -P -p --no-preserve= --parents -R -r --recursive --reflink= --remove-destination --sparse= --strip-trailing-slashes -s --symbolic-link -S --suffix= --target-directory= --no-target-directory -u --update -v --verbose -x --one-file-system -Z --context= --suffix',
  mv: '-T -t --backup= -b --backup -f --force -i --interactive -n --no-clobber --strip-trailing-slashes -S --suffix= --target-directory= --no-target-directory -u --update -v --verbose -Z --context --suffix',
  ln: '-T -t --symbolic --backup= -b --backup -d -F --directory -f --force -i --interactive -L --logical -n --no-dereference -P --physical -r --relative -s -S --suffix= --target-directory= --no-target-directory -v --verbose --suffix',
  mkdir: '-m --mode= -p --parents -v --verbose -Z --context=',
  touch: '-c -h -a --no-create -d --date= -f --no-dereference -m -r --reference= -t --time=',
  install:
    '-T -t -d --backup= -b --backup -c -C --compare --directory -D --target-directory -g --group= -m --mode= -o --owner= -p --preserve-timestamps -s --strip --strip-program= -S --suffix= --no-target-directory -v --verbose --preserve-context -Z --context= --suffix',
  chmod:
    '--reference= --reference -c --changes -f --silent --quiet -v --verbose --no-preserve-root --preserve-root -R --recursive',
  ls: '--sort -a --all -A --almost-all --author -l -b --escape --block-size= -B --ignore-backups -c -C --color= -d --directory -D --dired -f -F --classify= --file-type --format= -x -m -1 --full-time --time-style= -g --group-directories-first -U -G --no-group -h --human-readable -s --si -H --dereference-command-line --dereference-command-line-symlink-to-dir --hide= --hyperlink= --indicator-style= -p -i --inode -I --ignore= -k --kibibytes -L --dereference -n --numeric-uid-gid -N --literal -o -q --hide-control-chars --show-control-chars -Q --quote-name --quoting-style= -r --reverse -R --recursive --size -S -t -v -X --time= -u --time -T --tabsize= -w --width= -Z --context --zero',
  stat: '-L --dereference -f --file-system --cached= -c --format= --printf= --format -t --terse --cached',
  file: '-v -m --magic-file -z --uncompress -Z --uncompress-noreport -b --brief -c --checking-printout -e --exclude --exclude-quiet -f --files-from -F --separator -i --mime --mime-type --mime-encoding --apple --extension -k --keep-going -l --list -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -p --preserve-date -P --parameter -r --raw -s --special-files -S --no-sandbox -C --compile -d --debug',
  du: '--files0-from= -0 --null -a --all --apparent-size -B --block-size= -b --bytes -c --total -D --dereference-args -d --max-depth= --summarize -H -h --human-readable --inodes -k -L --dereference -l --count-links -m -P --no-dereference -S --separate-dirs --si -s -t --threshold= --time --time-style= -X --exclude-from= --exclude= -x --one-file-system --block-size',
  find: '-H -L -P -Olevel -D -print -and -not -a -o -or -daystart -follow -nowarn -regextype -warn -depth -files0-from -maxdepth -mindepth -mount -noleaf -xdev -ignore -noignore -N -amin -anewer -atime -cmin -cnewer -context -ctime -empty -false -fstype -gid -group -ilname -iname -inum -iwholename -iregex -links -lname -mmin -mtime -name -newer -nouser -nogroup -path -perm -regex -readable -writable -executable -wholename -size -true -type -uid -used -user -xtype -delete -print0 -printf -fprintf -fprint0 -fprint -ls -fls -prune -quit -exec -ok -execdir -okdir',
  grep: '-i -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e --regexp= -f --file= --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v --invert-match -V -m --max-count= -b --byte-offset -n --line-number --line-buffered -H --with-filename -h --no-filename --label= -o --only-matching -q --quiet --silent --binary-files= -a --text -I -d --directories= -D --devices= -r --recursive -R --dereference-recursive --include= --exclude= --exclude-from= --exclude-dir= -L --files-without-match -l --files-with-matches -c --count -T --initial-tab -Z --null -B --before-context= -A --after-context= -C --context= --group-separator= --no-group-separator --color= --colour= -U --binary',
  egrep:
    '-i -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e --regexp= -f --file= --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v --invert-match -V -m --max-count= -b --byte-offset -n --line-number --line-buffered -H --with-filename -h --no-filename --label= -o --only-matching -q --quiet --silent --binary-files= -a --text -I -d --directories= -D --devices= -r --recursive -R --dereference-recursive --include= --exclude= --exclude-from= --exclude-dir= -L --files-without-match -l --files-with-matches -c --count -T --initial-tab -Z --null -B --before-context= -A --after-context= -C --context= --group-separator= --no-group-separator --color= --colour= -U --binary',
  zgrep:
    '-e --dereference-recursive -R --directories -d --exclude --exclude-from --exclude-dir --include --null -Z --null-data -z --recursive -r',
  zcat: '-f --force -l --list -q --quiet -r --recursive -S --suffix= --synchronous -t --test -v --verbose',
  gzip: '-c --stdout -d --decompress -f --force -h -k --keep -l --list -L --license -n --no-name -N --name -q --quiet -r --recursive --rsyncable -S --suffix= --synchronous -t --test -v --verbose -V -1 --fast -9 --best',
  gunzip:
    '-c --stdout -f --force -k --keep -l --list -n --no-name -N --name -q --quiet -r --recursive -S --suffix= --synchronous -t --test -v --verbose',
  bzip2:
    '-h -d --decompress -z --compress -k --keep -f --force -t --test -c --stdout -q --quiet -v --verbose -L --license -V -s --small -1 -9 --fast --best -4',
  xz: '-z --compress -d --decompress -t --test -l --list -k --keep -f --force -c --stdout -0 -9 -e --extreme -T --threads= -q --quiet -v --verbose -h -H --long-help -V',
  unxz: '-z --compress -d --decompress -t --test -l --list -k --keep -f --force -c --stdout -0 -9 -e --extreme -T --threads= -q --quiet -v --verbose -h -H --long-help -V',
  zstd: '-o -k --keep --rm -d --decompress -D -f --force -h -H -V -c --stdout -v --verbose -q --quiet --trace -r --filelist --output-dir-flat --output-dir-mirror --ultra --fast= --adapt --long= --patch-from= -T --single-thread --auto-threads= -B --rsyncable --exclude-compressed --stream-size= --size-hint= --target-compressed-block-size= --no-dictID --format= -l --test -M --train --train-cover= --train-fastcover= --train-legacy= --maxdict= --dictID= -b -e -i -S --priority=',
  tar: '-A --catenate --concatenate -c --create --delete -d --diff --compare -r --append --test-label -t --list -u --update -x --extract --get --check-device -g --listed-incremental= -G --incremental --hole-detection= --ignore-failed-read --level= --no-check-device --no-seek -n --seek --occurrence= -T --sparse-version= --sparse -S --add-file= -C --directory= --exclude= --exclude-backups --exclude-caches --exclude-caches-all --exclude-caches-under --exclude-ignore= --exclude-ignore-recursive= --exclude-tag= --exclude-tag-all= --exclude-tag-under= --exclude-vcs --exclude-vcs-ignores --no-null --null --no-recursion --no-unquote --no-verbatim-files-from --verbatim-files-from --recursion --files-from= --unquote -X --exclude-from= --anchored --ignore-case --no-anchored --no-ignore-case --no-wildcards --no-wildcards-match-slash --wildcards --wildcards-match-slash --keep-directory-symlink --keep-newer-files -k --keep-old-files --no-overwrite-dir --one-top-level= --overwrite --overwrite-dir --recursive-unlink --remove-files --skip-old-files -U --unlink-first -W --verify --ignore-command-error --no-ignore-command-error -O --to-stdout --to-command= --atime-preserve= --clamp-mtime --mtime --delay-directory-restore --group= --group-map= --mode= -m --touch --no-delay-directory-restore --no-same-owner --no-same-permissions --numeric-owner --owner= --owner-map= -p --preserve-permissions --same-permissions --same-owner --sort= -s --preserve-order --same-order --acls --no-acls --no-selinux --no-xattrs --selinux --xattrs --xattrs-exclude= --xattrs-include= --force-local -f --file= -F --info-script= --new-volume-script= -M -L --tape-length= --multi-volume --rmt-command= --rsh-command= --volno-file= -b --blocking-factor= -B --read-full-records -i --ignore-zeros --record-size= -H --format= --old-archive --portability --pax-option= --posix -V --label= -a --auto-compress -I --use-compress-program= -j --bzip2 -J --xz --lzip --lzma --lzop --no-auto-compress --zstd -z --gzip --gunzip --ungzip -Z --compress --uncompress --backup= --hard-dereference -h --dereference -K --starting-file= --newer-mtime= -N --newer= --after-date= --one-file-system -P --absolute-names --suffix= --strip-components= --transform= --xform= --checkpoint= --checkpoint-action= --full-time --index-file= -l --check-links --no-quote-chars= --quote-chars= --quoting-style= -R --block-number --show-defaults --show-omitted-dirs --show-snapshot-field-ranges --show-transformed-names --show-stored-names --totals= --utc -v --verbose --warning= -w --interactive --confirmation -o --restrict --usage --suffix --backup --quoting-style',
  zip: '-L -b -t -n -f -u -d -m -r -j -0 -l -1 -9 -q -v -c -z -o -x -i -F -D -A -J -T -X -y -e',
  unzip: '-Z -x -d -p -l -f -t -u -z -v -T -n -q -o -a -j -U -C -L -X -V -K -M',
  diff: '--normal -q --brief -s --report-identical-files -c -C --context= -u -U --unified= -e --ed -n --rcs -y --side-by-side -W --width= --left-column --suppress-common-lines -p --show-c-function -F --show-function-line= --label -t --expand-tabs -T --initial-tab --tabsize= --suppress-blank-empty -l --paginate -r --recursive --no-dereference -N --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x --exclude= -X --exclude-from= -S --starting-file= --from-file= --to-file= -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -I --ignore-matching-lines= -a --text --strip-trailing-cr -D --ifdef= --line-format= --ifdef -d --minimal --horizon-lines= --speed-large-files --color= --color --palette= -v --from-file --to-file',
  cmp: '-b --print-bytes -i --ignore-initial= -l --verbose -n --bytes= -s --quiet --silent -v',
  sdiff:
    '-o --output= -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -W --ignore-all-space -B --ignore-blank-lines -I --ignore-matching-lines= --strip-trailing-cr -a --text -w --width= -l --left-column -s --suppress-common-lines -t --expand-tabs --tabsize= -d --minimal -H --speed-large-files --diff-program= -v',
  diff3:
    '-A --show-all -e --ed -E --show-overlap -3 --easy-only -x --overlap-only -X -i -m --merge -a --text --strip-trailing-cr -T --initial-tab --diff-program= -L --label= -v',
  md5sum: '-b --binary -c --check --tag -t --text -z --zero --ignore-missing --quiet --status --strict -w --warn',
  sha256sum: '-b --binary -c --check --tag -t --text -z --zero --ignore-missing --quiet --status --strict -w --warn',
  cksum:
    '-a --algorithm= -c --check -l --length= --tag --untagged -z --zero --ignore-missing --quiet --status --strict -w --warn --debug -s -r',
  base64: '-d --decode -i --ignore-garbage -w --wrap=',
  xxd: '-r -s -c -a -b -i -C -E -e -g -h -l -n -o -d -u -v',
  hexdump:
    '-b --one-byte-octal -c --one-byte-char -C --canonical -d --two-bytes-decimal -o --two-bytes-octal -x --two-bytes-hex -L --color= -e --format -f --format-file -n --length -s --skip -v --no-squeezing -h -V',
  strings:
    '-a --all -d --data -f --print-file-name -n --bytes= -t --radix= -w --include-all-whitespace -o -T --target= -e --encoding= --unicode= -U -s --output-separator= -h -v -V',
  iconv: '-f --from-code= -t --to-code= -l --list -c -o --output= -s --silent --verbose --usage -V',
  jq: '--args --jsonargs -c -n -e -s -r -R -C -M -S --tab --arg --argjson --slurpfile --rawfile',
  awk: '-F= -v= -f= -e=',
  sed: '-n --quiet --silent --debug -e --expression= -f --file= --follow-symlinks -i --in-place= -l --line-length= --posix -E -r --regexp-extended -s --separate --sandbox -u --unbuffered -z --null-data --expression --file -i.service -i.bak -iway/*',
  readlink:
    '-f --canonicalize -e --canonicalize-existing -m --canonicalize-missing -n --no-newline -q --quiet -s --silent -v --verbose -z --zero',
  realpath:
    '-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet --relative-to= --relative-base= -s --strip --no-symlinks -z --zero',
  basename: '-a --multiple -s --suffix= -z --zero',
  test: '',
  date: '-u --utc --universal -s -d --date= --debug -f --file= --date -I --iso-8601= --resolution -R --rfc-email --rfc-3339= -r --reference= --set=',
  echo: '-n -e -E',
  printf: '',
  look: '-a --alternative -d --alphanum -f --ignore-case -t --terminate -h -V',
  ul: '-t -T --terminal -i --indicated -h -V',
  namei: '-x --mountpoints -m --modes -o --owners -l --long -v -n --nosymlinks --vertical -h -V',
  b2sum:
    '-b --binary -c --check -l --length= --tag -t --text -z --zero --ignore-missing --quiet --status --strict -w --warn',
  basenc:
    '--base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf -d --decode -i --ignore-garbage -w --wrap= --z85',
};
