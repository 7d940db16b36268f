# Completes hearth's commands in bash. Made by: hearth completions bash
_hearth() {
  local line=${COMP_LINE:0:COMP_POINT} found=() words=() entry current cut=
  read -r -a words <<< "$line"
  [[ $line == *[[:blank:]] ]] && words+=('')
  mapfile -t found < <(hearth complete "${words[@]:1}" 2> /dev/null)
  COMPREPLY=()
  if [[ ${found[0]} == files ]]; then
    compopt -o default
    return
  fi
  # A colon ends a word for bash: what stands before it is not replaced.
  current=${words[${#words[@]} - 1]}
  [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && cut=${current%"${current##*:}"}
  for entry in "${found[@]:1}"; do
    entry=${entry%%$'\t'*}
    COMPREPLY+=("${entry#"$cut"}")
  done
}
complete -F _hearth hearth
