#include "tools/top/top_terminal.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "runtime/files/part_file.hpp"
#include "tools/commands/command_end.hpp"
#include "tools/top/top_fetch.hpp"
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
// Declared here since <term.h> defines macros for many common words.
extern "C" char* tigetstr(char const* capability);

namespace rondo::tools {

namespace {

constexpr int key_poll_ms = 50;  // between checks for a new report

bool speaks_utf8() {
  std::setlocale(LC_ALL, "");
  return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

bool wants_colour(top_options const& options) {
  char const* const no = std::getenv("NO_COLOR");
  return !options.no_colour && (no == nullptr || *no == '\0');
}

constexpr short selected_background = 237;

std::atomic<bool> resized{false};  // the signal may come to any thread
static_assert(std::atomic<bool>::is_always_lock_free);

/// Catches changes of the window's size before ncurses does: it counts columns in 16 bits, and crashes in a larger
/// window.
class resizes {
 public:
  resizes() {
    struct sigaction action {};
    action.sa_handler = [](int) { resized.store(true, std::memory_order_relaxed); };
    sigaction(SIGWINCH, &action, &old_);
  }
  ~resizes() { sigaction(SIGWINCH, &old_, nullptr); }
  resizes(resizes const&) = delete;
  resizes& operator=(resizes const&) = delete;

 private:
  struct sigaction old_ {};
};

attr_t plain_attributes(style look) noexcept {
  switch (look) {
    case style::dim:
    case style::track:
      return A_DIM;
    case style::heading:
      return A_UNDERLINE;
    case style::bad:
      return A_BOLD | A_STANDOUT;
    default:
      return colour_of(look).bold ? A_BOLD : A_NORMAL;
  }
}

/// The ncurses screen, while it is in use.
class terminal {
 public:
  explicit terminal(top_options const& options) {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
      throw no_terminal("standard input and output are not a terminal; use --once or --json");
    use_env(FALSE);  // the size comes from `fit`
    screen_ = newterm(nullptr, stdout, stdin);
    char const* const cursor = screen_ == nullptr ? nullptr : tigetstr("cup");
    if (cursor == nullptr || cursor == reinterpret_cast<char const*>(-1)) {
      if (screen_ != nullptr) {
        endwin();
        delscreen(screen_);
      }
      char const* const name = std::getenv("TERM");
      throw no_terminal(
          fmt::format("this terminal (TERM={}) cannot be drawn on; use --once, which prints one screen",
                      name == nullptr ? "" : name));
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    timeout(key_poll_ms);
    fit();
    colours_ = wants_colour(options) && has_colors();
    if (!colours_) return;
    start_color();
    use_default_colors();
    for (int s = 0; s < styles; ++s) {
      auto const look = static_cast<style>(s);
      auto const colour = many() ? colour_of(look).colour : colour_of(look).basic;
      init_pair(pair_of(look, false), colour, -1);
      init_pair(pair_of(look, true), colour, many() ? selected_background : short{-1});
    }
  }
  ~terminal() {
    endwin();
    delscreen(screen_);
  }
  terminal(terminal const&) = delete;
  terminal& operator=(terminal const&) = delete;

  bool colours() const noexcept { return colours_; }
  int width() const { return getmaxx(stdscr); }
  int height() const { return getmaxy(stdscr); }

  void show(text_grid const& grid) const {
    erase();
    for (int r = 0; r < std::min(grid.height(), height()); ++r)
      for (int c = 0; c < std::min(grid.width(), width()); ++c) put(r, c, grid.at(r, c));
    refresh();
  }

  /// Whether the terminal was closed, or its connection was lost. It then has no keys, and does not make the caller
  /// wait for one.
  bool is_gone() const {
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    return poll(&keys, 1, 0) == 1 && (keys.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  }

  /// The next key; 0: none.
  char32_t key() const {
    if (resized.exchange(false, std::memory_order_relaxed)) {
      fit();
      return key_redraw;
    }
    wint_t got = 0;
    int const kind = get_wch(&got);
    if (kind == OK) {
      if (got == U'\n' || got == U'\r') return key_enter;
      if (got == 27) return key_escape;
      if (got == 8 || got == 127) return key_backspace;
      return got == 3 ? U'q' : static_cast<char32_t>(got);
    }
    if (kind != KEY_CODE_YES) return 0;
    static constexpr std::pair<int, char32_t> keys[] = {
        {KEY_UP, key_up},     {KEY_DOWN, key_down}, {KEY_PPAGE, key_page_up}, {KEY_NPAGE, key_page_down},
        {KEY_HOME, key_home}, {KEY_END, key_end},   {KEY_ENTER, key_enter},   {KEY_BACKSPACE, key_backspace}};
    for (auto const& [code, meaning] : keys)
      if (got == static_cast<wint_t>(code)) return meaning;
    return key_redraw;
  }

 private:
  static constexpr char32_t key_redraw = key_escape + 0x1000;  // means nothing, but the screen is drawn again

  /// Takes the window's size, as far as it is drawn on.
  static void fit() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
    resizeterm(std::min<int>(size.ws_row, most_top_rows), std::min<int>(size.ws_col, most_top_columns));
  }
  static bool many() { return COLORS >= 256 && COLOR_PAIRS > 2 * styles; }
  static short pair_of(style look, bool selected) {
    return static_cast<short>(1 + static_cast<int>(look) + (selected ? styles : 0));
  }
  void put(int row, int column, grid_cell const& cell) const {
    if (cell.glyph == 0) return;
    attr_t look = colours_ ? (colour_of(cell.look).bold ? A_BOLD : A_NORMAL) : plain_attributes(cell.look);
    if (colours_ && !many() && (cell.look == style::dim || cell.look == style::track)) look |= A_DIM;
    // Without a background colour the selected line is underlined: bars and curves would not survive reverse video.
    if (cell.selected && !(colours_ && many())) look |= A_UNDERLINE;
    wchar_t const text[] = {static_cast<wchar_t>(cell.glyph), 0};
    cchar_t drawn{};
    setcchar(&drawn, text, look, colours_ ? pair_of(cell.look, cell.selected) : short{0}, nullptr);
    mvadd_wch(row, column, &drawn);  // fails for the last cell of the screen, but draws it
  }

  resizes const sizes_;  // before the screen
  SCREEN* screen_ = nullptr;
  bool colours_ = false;
};

/// Saves the report to a file. Returns a message about it.
std::string save(service::report const& r) try {
  auto const file = fmt::format("rondo-report-{}.json", r.wall_ms);
  write_output(file, service::to_json(r) + '\n');
  return fmt::format("saved as {}", file);
} catch (std::exception const& e) {
  return fmt::format("not saved: {}", e.what());
}

std::string chosen_name(top_state const& state, top_model const& model) {
  auto const all = state.shown(model);
  int const at = state.selected(all);
  return state.details && at >= 0 ? all[static_cast<std::size_t>(at)]->now->name : std::string();
}

}  // namespace

void run_top(top_source const& source, top_options const& options) {
  bool const ascii = options.ascii || !speaks_utf8();
  terminal const screen(options);
  stop_signals const signals;  // they end the loop, so that the terminal is restored
  top_model model;
  top_state state;
  top_news news{.source = source.name};
  top_fetch fetch(source, options.interval);
  bool draw = true;
  while (signals.arrived() == 0) {
    if (screen.is_gone()) return;
    auto came = fetch.take();
    if (came && !state.paused) {
      news.trouble = std::move(came->trouble);
      if (came->waiting) news.depths = std::move(came->waiting);
      if (came->report) model.add(std::move(*came->report));
      draw = true;
    }
    top_look const look{screen.width(), screen.height(), ascii, screen.colours()};
    if (draw) screen.show(draw_top(model, state, look, news));
    auto const key = screen.key();
    draw = key != 0;
    if (!draw) continue;
    news.message.clear();
    auto const request = state.press(key, model, model.has_report() ? rows_of_table(model, look) : 1);
    if (request == top_state::request::quit) return;
    if (request == top_state::request::save && model.has_report()) news.message = save(model.now());
    auto const watched = chosen_name(state, model);
    if (watched.empty()) news.depths.reset();
    fetch.watch(watched);
  }
}

}  // namespace rondo::tools
