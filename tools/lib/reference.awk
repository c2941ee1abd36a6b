# Shows a header to Doxygen as people read it; the filter of docs/Doxyfile, which says what the comments mean. Lines keep their numbers.
function is_comment(text) { return text ~ /^[ \t]*\/\// }
# The line without its comment and its texts.
function code(text) {
  gsub(/"([^"\\]|\\.)*"|'([^'\\]|\\.)'/, "", text)
  sub(/ *\/\/.*/, "", text)
  return text
}
# How many braces it leaves open.
function braces(text) { return gsub(/{/, "{", text) - gsub(/}/, "}", text) }

{ lines[NR] = $0 }

END {
  own = FILENAME
  sub(/.*\//, "", own)
  sub(/\.hpp$/, "", own)

  # The opening comment describes the file, and its first sentence the type with the file's name.
  for (last = 0; last < NR && is_comment(lines[last + 1]); ++last) {
    text = lines[last + 1]
    sub(/^\/\/ ?/, "", text)
    if (!whole) brief = brief (brief == "" ? "" : " ") text
    if (text ~ /\.$/ || text == "") whole = 1
  }
  for (i = 1; i <= NR; ++i) {
    line = lines[i]
    bare = code(line)
    if (depth > 0) {  # in a function
      depth += braces(bare)
      print line
      continue
    }
    if (bare ~ / {$/ && bare !~ /(^|[ >)])(struct|class|enum|union|namespace) (alignas\([0-9]+\) )?[^();]*{$/) depth = braces(bare)
    if (i <= last) {
      # What is indented is an example or a table.
      if (!sub(/^\/\/  /, "///      ", line)) sub(/^\/\//, "///", line)
    } else if (line == "#pragma once") {
      line = "/// \\file"
    } else if (line ~ /-- for (the runtime|Boost|the standard library)$/ && is_comment(line)) {
      indented = line ~ /^ /
      line = hidden ? "" : "/// \\cond"
      hidden = indented ? "class" : "header"  # what the hidden part belongs to
    } else if (line ~ /^ *protected:/) {
      if (!hidden) line = line " /** \\cond */"
      hidden = "class"
    } else if (hidden == "class" && line ~ /^ *(private|public):|^ *\/\/ -- |^};/ ||
               hidden == "header" && line ~ /^\/\/ -- |^}  \/\/ namespace rondo/) {
      line = "/** \\endcond */ " line
      hidden = ""
    } else if (is_comment(line)) {
      # The second line of a comment behind a name is below the first one. Doxygen would add a `///` after it.
      if (line ~ /^ *\/\/\// && (behind || open)) {
        sub(/\/\/\//, open ? "" : "/**", line)
        open = lines[i + 1] ~ /^ *\/\/\//
        if (!open) line = line " */"
        behind = 0
      } else if (behind && index(line, "//") == behind) {
        sub(/\/\//, "///<", line)
      } else {
        behind = 0
      }
      print line
      continue
    } else if (line ~ /= (delete|default);/) {
      line = ""
    } else if (line ~ "^(class|struct) " own "( |$|;)" && line !~ /;$/ && !named && !is_comment(lines[i - 1]) &&
               !(lines[i - 1] ~ /^template/ && is_comment(lines[i - 2]))) {
      line = "/** " brief " */ " line
      named = 1
    } else if (line !~ /^[ \t]*#|^(class|struct) [a-z_]+;/ && bare !~ /}$/ && line ~ /[^ ] *\/\/ /) {
      behind = index(line, "// ")
      line = substr(line, 1, behind - 1) "///< " substr(line, behind + 3)
      print line
      continue
    }
    behind = 0
    print line
  }
  if (hidden) print "/// \\endcond"
}
