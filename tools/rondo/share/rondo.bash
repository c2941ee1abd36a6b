# Completion of the rondo command for bash: source this file, or install it as /usr/share/bash-completion/completions/rondo.
# Commands and options come from `rondo --help`, the names of actors and messages from the service at --at or --service.

# Offers the words, one per line, that begin with what was typed. `compgen -W` would execute words such as $(this), and
# names come from others.
_rondo_offer() {
  local word
  while IFS= read -r word; do
    if [[ $word == "$current"* ]]; then COMPREPLY+=("$(printf '%q' "$word")"); fi
  done
}

_rondo() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word rondo=${COMP_WORDS[0]}
  local -a where=() words=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    case $word in
      --at | --service) where=("$word" "${COMP_WORDS[i + 1]}") && ((++i)) ;;
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
  command=${words[0]:-} COMPREPLY=()
  case $previous in
    --config | --file | --checkpoint | --recording | --trace | --out | --token-file | --tls-authorities | --input | --output)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
  esac
  if [[ -z $command ]]; then
    _rondo_offer < <(printf '%s\n' --help --version && "$rondo" --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p')
  elif [[ $current == -* ]]; then
    _rondo_offer < <("$rondo" "$command" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)
  elif ((${#words[@]} == 1)); then
    case $command in
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
