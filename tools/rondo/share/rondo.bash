# Completion of the rondo command for bash: source this file, or install it as /usr/share/bash-completion/completions/rondo.
# Commands and options come from `rondo --help`, the names of actors and messages from the service at --at or --service.

# Offers the words, one per line, that begin with what was typed. `compgen -W` would execute words such as $(this), and
# names come from others.
_rondo_offer() {
  local word
  while IFS= read -r word; do
    if [[ $word == "$current"* ]]; then COMPREPLY+=("$(printf '%q' "${word#"$before"}")"); fi
  done
}

# Sets `typed` to the words up to the cursor. Bash splits them at ':' and '=', as in unix:/path, and replaces only the part
# after the last of these: `before` is the part of the last word that stays.
_rondo_join() {
  local rest=${COMP_LINE:0:COMP_POINT} word spaces
  for word in "${COMP_WORDS[@]:0:COMP_CWORD + 1}"; do
    spaces=${rest%%[![:space:]]*}
    rest=${rest#"$spaces"} && rest=${rest#"$word"}
    if [[ $spaces || ${#typed[@]} -eq 0 ]]; then
      typed+=("$word") before=''
    else
      before=${typed[-1]} typed[-1]+=$word
    fi
    if [[ $word =~ ^[:=]+$ ]]; then before=${typed[-1]}; fi
  done
}

_rondo() {
  local before='' command='' word i
  local -a typed=() where=() words=()
  _rondo_join
  local rondo=${typed[0]} current=${typed[-1]} previous=${typed[-2]}
  for ((i = 1; i < ${#typed[@]} - 1; ++i)); do
    word=${typed[i]}
    case $word in
      --at | --service) where=("$word" "${typed[i + 1]}") && ((++i)) ;;
      --at=* | --service=*) where=("$word") ;;
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
  command=${words[0]:-} COMPREPLY=()
  # `run` has commands of its own.
  local -a called=("$command")
  if [[ $command == run && ${#words[@]} -gt 1 ]]; then called+=("${words[1]}"); fi
  case $previous in
    --config | --file | --checkpoint | --recording | --trace | --out | --token-file | --tls-authorities | --input | --output)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
  esac
  if [[ -z $command ]]; then
    _rondo_offer < <(printf '%s\n' --help --version && "$rondo" --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p')
  elif [[ $current == -* ]]; then
    _rondo_offer < <("$rondo" "${called[@]}" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)
  elif ((${#words[@]} == 1)); then
    case $command in
      run)
        _rondo_offer < <("$rondo" run --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p')
        ;;
      replay)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
      ask | tell | inspect | activate | deactivate | terminate)
        _rondo_offer < <("$rondo" list "${where[@]}" --timeout 1 2>/dev/null | awk 'NR > 1 { print $1 }')
        ;;
    esac
  elif ((${#words[@]} == 2)); then
    case $command in
      ask | tell)
        _rondo_offer < <("$rondo" describe "${where[@]}" --timeout 1 2>/dev/null | awk '/^ / { print $1 }' | sort -u)
        ;;
      launch)
        _rondo_offer < <("$rondo" describe "${where[@]}" --timeout 1 2>/dev/null | awk '/^[^ ]/ { sub(/.*::/, ""); print $1 }')
        ;;
    esac
  fi
}
complete -F _rondo rondo
