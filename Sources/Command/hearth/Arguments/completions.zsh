#compdef hearth
# Completes hearth's commands in zsh. Made by: hearth completions zsh
_hearth() {
  local -a found entries
  local line
  found=("${(@f)$(hearth complete "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ $found[1] == files ]]; then
    _files
    return
  fi
  for line in $found[2,-1]; do
    entries+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe hearth entries
}
if [[ $funcstack[1] == _hearth ]]; then
  _hearth "$@"
else
  compdef _hearth hearth
fi
