import type { Handler } from '../context.ts';
import type { shells } from '../table/surfaces.ts';

/**
 * Each script asks `reins __complete` with the words up to the cursor, one candidate per line. So the command table
 * stays the only list of words, and names that change (sessions, backends) are always the present ones.
 */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  // bash cuts words at = and : too, and replaces only what follows the last of them: the words are read from the line.
  // Behind an opened quote it replaces what follows the quote, and closes it.
  bash: `_reins() {
  local line=\${COMP_LINE:0:COMP_POINT} breaks='' cut='' current='' begun='' char='' quote=''
  local back='\\' quotes="[\\"']" unsafe='["$\`\\\\]'
  local -a words=()
  while [[ -n $line ]]; do
    char=\${line:0:1} line=\${line:1}
    if [[ -n $quote && $char == "$quote" ]]; then
      quote=''
    elif [[ $char == "$back" && $quote != "'" ]]; then
      current+=\${line:0:1} line=\${line:1} begun=1
    elif [[ -z $quote && $char == $quotes ]]; then
      quote=$char cut=$current begun=1
    elif [[ -z $quote && $char == [[:space:]] ]]; then
      [[ -n $begun ]] && words+=("$current")
      current='' begun=''
    else
      current+=$char begun=1
    fi
  done
  words+=("$current")
  if [[ -z $quote ]]; then
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
    cut=''
    [[ -n $breaks ]] && cut=\${current%"\${current##*[$breaks]}"}
  elif [[ $quote == "'" ]]; then
    unsafe="'"
  fi
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line#"$cut"}
    # The name of a file may hold anything: within quotes also what would end them.
    if [[ -n $quote ]]; then
      [[ $line == *$unsafe* ]] && continue
    elif [[ $line == @* ]]; then
      printf -v line %q "$line"
    fi
    COMPREPLY+=("$line")
  done < <(reins __complete "\${words[@]:1}" 2>/dev/null)
  # A directory goes on.
  [[ \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _reins reins
`,
  zsh: `#compdef reins
_reins() {
  local -a candidates asked
  asked=("\${(@)words[2,CURRENT]}")
  # A quote that is open is closed, so that it can be taken off.
  (( $#asked > 0 )) && asked[-1]+=\${compstate[quote]}
  candidates=("\${(@f)$(reins __complete "\${(@Q)asked}" 2>/dev/null)}")
  if [[ -n "\${candidates[1]}" ]]; then
    compadd -S '' -- \${(M)candidates:#*/}
    compadd -- \${candidates:#*/}
  else
    _files
  fi
}
# In a directory of fpath this file is the function itself; sourced, it needs the completion system, which it loads.
if [[ \${funcstack[1]} == _reins ]]; then
  _reins "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i }
  compdef _reins reins
fi
`,
  fish: `function __reins_complete
  # Without quotes, one of which may be open.
  set -l words (commandline -opc)[2..-1] (commandline -ct | string replace -ra '["\\']' '')
  set -l found (reins __complete $words 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c reins -f -a '(__reins_complete)'
`,
};

const completion: Handler = async ({ invocation, terminal }) => {
  const shell = invocation.words[0];
  // The word was checked against the shells of the table.
  await terminal.out(scripts[shell as keyof typeof scripts]);
  return 0;
};

export const handlers = { '': completion };
