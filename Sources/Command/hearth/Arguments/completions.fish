# Completes hearth's commands in fish. Made by: hearth completions fish
function __hearth_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l found (hearth complete $typed[2..] "$current" 2> /dev/null)
    if test "$found[1]" = files
        __fish_complete_path "$current"
    else if test (count $found) -gt 1
        printf '%s\n' $found[2..]
    end
end
complete -c hearth -f -a '(__hearth_complete)'
