import type { Handler } from '../context.ts';
import type { shells } from '../table/surfaces.ts';

/**
 * Each script asks `reins __complete` with the words up to the cursor, one candidate per line. So the command table
 * stays the only list of words, and names that change (sessions, backends) are always the present ones.
 */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  // bash cuts words at = and : too, and replaces only what follows the last of them: the words are read from the line.
  bash: `_reins() {
  local line=\${COMP_LINE:0:COMP_POINT} breaks='' cut='' current
  local -a words
  read -a words <<<"$line"
  [[ $line == *[!\\\\][[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
  [[ -n $breaks ]] && cut=\${current%"\${current##*[$breaks]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line#"$cut"}
    # The name of a file may hold anything.
    [[ $line == @* ]] && printf -v line %q "$line"
    COMPREPLY+=("$line")
  done < <(reins __complete "\${words[@]:1}" 2>/dev/null)
  # A directory goes on.
  [[ \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _reins reins
`,
  zsh: `#compdef reins
_reins() {
  local -a candidates
  candidates=("\${(@f)$(reins __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
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
  set -l words (commandline -opc)[2..-1] (commandline -ct)
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
