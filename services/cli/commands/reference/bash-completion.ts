import { VERSION } from '#proto';
import { flat, type CommandWords, type PlaceValues } from './command-words.js';

/** Says of a place in a command line that a file belongs there. */
const FILE = '@file';

/** Needs nothing but bash itself, of 4.0 or newer. */
export function bashCompletion(program: CommandWords): string {
  const commands = flat(program);
  return [
    `# Completion of orrery ${VERSION} for bash, made by "orrery completion bash".`,
    '_orrery_command() {',
    '  case $1 in',
    ...commands.map(commandCase),
    '  esac',
    '}',
    '_orrery_values() {',
    '  case $1 in',
    ...commands.flatMap(valueCases),
    '  esac',
    '}',
    MAIN,
  ].join('\n');
}

/** Which commands are below it, which options it has, and which of them take a value. */
function commandCase({ path, below, options, arguments: places }: CommandWords): string {
  const words = [
    ['below', below.map((child) => child.path.at(-1) ?? '')],
    ['flags', [...options.flatMap(({ names }) => names), '--help']],
    ['valued', options.flatMap(({ names, takes }) => (takes === undefined ? [] : names))],
    ['places', [places.at(-1)?.isVariadic === true ? String(places.length) : '']],
  ] as const;
  const assigned = words.map(([name, values]) => `${name}=${quoted(values.join(' '))}`);
  return `    ${quoted(path.join(' '))}) ${assigned.join(' ')} ;;`;
}

/** What may stand behind an option, or at the n-th place: `runs --status`, `show 1`. */
function valueCases({ path, options, arguments: places }: CommandWords): string[] {
  const ofOptions = options.flatMap(({ names, takes }) =>
    takes === undefined ? [] : names.map((name) => ({ name, takes })),
  );
  const ofPlaces = places.map((takes, index) => ({ name: String(index + 1), takes }));
  return [...ofOptions, ...ofPlaces].flatMap(({ name, takes }) => {
    const said = valueText(takes);
    return said === '' ? [] : [`    ${quoted([...path, name].join(' '))}) printf %s ${quoted(said)} ;;`];
  });
}

function valueText({ words, isFile }: PlaceValues): string {
  return [...words, ...(isFile ? [FILE] : [])].join(' ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const MAIN = `_orrery() {
  local path='' below flags valued places word option='' place=1 plain='' i values list=''
  local cur=\${COMP_WORDS[COMP_CWORD]}
  _orrery_command ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then
      # As bash takes "--label team=db" apart: what follows belongs to what stands before.
      [[ -n $option ]] || ((i++))
    elif [[ -n $option ]]; then
      option=''
    elif [[ $word == -- ]]; then
      plain=1
    elif [[ -z $plain && $word == -* ]]; then
      [[ " $valued " != *" $word "* ]] || option=$word
    elif [[ $place == 1 && " $below " == *" $word "* ]]; then
      path=\${path:+$path }$word
      _orrery_command "$path"
    else
      ((place++))
    fi
  done
  [[ $cur != '=' ]] || cur=''
  COMPREPLY=()
  if [[ -z $option && -z $plain && $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  [[ -z $places || $place -le $places ]] || place=$places
  values=$(_orrery_values "\${path:+$path }\${option:-$place}")
  [[ -n $option || $place != 1 ]] || values="$below $values"
  # Of several with commas the last one is completed.
  if [[ -n $option && $cur == *,* ]]; then
    list=\${cur%,*},
    cur=\${cur##*,}
  fi
  COMPREPLY=($(compgen -P "$list" -W "\${values//${FILE}/}" -- "$cur"))
  if [[ " $values " == *' ${FILE} '* ]]; then
    compopt -o filenames 2>/dev/null
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
  fi
}
complete -F _orrery orrery`;
