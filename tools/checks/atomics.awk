# Prints "file:line: what" for each atomic access that does not name a memory order. Ignores comments and strings.
#
# A statement may span lines, so a file is read whole and each call is followed to its closing parenthesis. Accesses are
# recognised by name: load(), store(x), exchange(x), fetch_*(x) and compare_exchange*(...). Waiting calls and fences have no
# default order worth forbidding, and operators (++, +=, conversions) do not exist on rondo::atomic.

function blank_out(text,    out, at, rest, ending, piece) {
  out = ""
  while (match(text, /\/\/|\/\*|"|'/)) {
    at = RSTART; piece = substr(text, at, RLENGTH)
    out = out substr(text, 1, at - 1)
    text = substr(text, at)
    if (piece == "//") ending = match(text, /\n/) ? RSTART - 1 : length(text)
    else if (piece == "/*") ending = (rest = index(substr(text, 3), "*/")) ? rest + 3 : length(text)
    else if (piece == "\"") ending = match(text, /^"([^"\\\n]|\\.)*"/) ? RLENGTH : 1
    else ending = match(text, /^'([^'\\\n]|\\.)[^'\n]?[^'\n]?'/) ? RLENGTH : 1  # also digit separators: 1'000
    piece = substr(text, 1, ending)
    gsub(/[^\n]/, " ", piece)
    out = out piece
    text = substr(text, ending + 1)
  }
  return out text
}

# The text between the parenthesis that opens at the start of `text` and its partner.
function arguments_of(text,    depth, i, c) {
  for (i = 1; i <= length(text) && i < 2000; i++) {
    c = substr(text, i, 1)
    if (c == "(") depth++
    if (c == ")" && --depth == 0) return substr(text, 2, i - 2)
  }
  return substr(text, 2)
}

function judge(file, text,    line, call, arguments, before) {
  text = blank_out(text)
  line = 1
  while (match(text, /(\.|->)(load|store|exchange|fetch_[a-z]+|compare_exchange(_weak|_strong)?) *\(/)) {
    before = substr(text, 1, RSTART + RLENGTH - 1)
    call = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH - 1)
    line += gsub(/\n/, "\n", before)
    arguments = arguments_of(text)
    if (arguments ~ /memory_order|order|relaxed|acquire|release|acq_rel|seq_cst|success/) continue
    if (call ~ /load/ && arguments ~ /[^ \n]/) continue   # another load(), for example from a path
    gsub(/^(\.|->)| *\($/, "", call)
    printf "%s:%d: %s() does not name a memory order; add one, and name its edge in a comment\n", file, line, call
  }
}

FNR == 1 && NR > 1 { judge(file, whole); whole = "" }
{ file = FILENAME; whole = whole $0 "\n" }
END { if (NR) judge(file, whole) }
