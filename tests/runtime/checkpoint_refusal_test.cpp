// Damaged, foreign and unsuitable checkpoints are refused, and failed writes leave the old file.
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "runtime/checkpoint.hpp"
#include "runtime/state/checkpoint_file.hpp"
#include "tests/runtime/checkpoint_fixture.hpp"

using namespace checkpoint_test;

namespace {

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// A small runtime with state and mail, written to `file`.
void write_sample(std::filesystem::path const& file, std::uint32_t actors = 3) {
  auto rt = start();
  for (std::uint32_t i = 0; i < actors; ++i) {
    auto const j = rt->launch<journal>("journal " + std::to_string(i), {.active = false});
    for (std::uint64_t m = 0; m < 3; ++m) tell(j, item{0, m});
  }
  rondo::checkpoint(*rt, file);
}

/// Restores and expects a refusal that names the file and contains `why`; nothing must be launched.
void require_refused(rondo::runtime& rt, std::filesystem::path const& file, std::string const& why) {
  auto const error = error_of([&] { rondo::restore(rt, file); });
  CAPTURE(error, why);
  REQUIRE(contains(error, file.string()));
  REQUIRE(contains(error, why));
  REQUIRE(rt.list().empty());
}

/// Temporarily lowers the largest file size of this process, which must get an error instead of a signal.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_DFL);  // would end this process
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit const lower{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int);
};

}  // namespace

TEST_CASE("a checkpoint cut off at any length is refused", "[checkpoint]") {
  scratch s;
  write_sample(s.file);
  auto const whole = read_bytes(s.file);
  auto rt = start();
  for (std::size_t length = whole.size(); length-- > 0;) {
    std::filesystem::resize_file(s.file, length);
    require_refused(*rt, s.file, "truncated");
  }
  write_bytes(s.file, whole + '\0');
  require_refused(*rt, s.file, "truncated");
  write_bytes(s.file, whole);
  rondo::restore(*rt, s.file);
  REQUIRE(rt->list().size() == 3);
}

TEST_CASE("a checkpoint with any one bit changed is refused", "[checkpoint]") {
  scratch s;
  write_sample(s.file, 1);
  auto bytes = read_bytes(s.file);
  auto const module = describe();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto& byte = bytes[bit / 8];
    auto const flip = static_cast<char>(1u << (bit % 8));
    byte = static_cast<char>(byte ^ flip);
    overwrite_bytes(s.file, {byte}, bit / 8);
    CAPTURE(bit);
    REQUIRE_FALSE(error_of([&] { rondo::read_checkpoint(s.file, module); }).empty());
    byte = static_cast<char>(byte ^ flip);
    overwrite_bytes(s.file, {byte}, bit / 8);
  }
  REQUIRE(rondo::read_checkpoint(s.file, module).actors.size() == 1);
}

TEST_CASE(
    "a body that no runtime wrote is refused or read as far as it is sound, even if its checksum is right",
    "[checkpoint]") {
  scratch s;
  write_sample(s.file, 1);
  auto bytes = read_bytes(s.file);
  auto const module = describe();
  std::size_t refused = 0, read = 0;
  for (std::size_t at = head_bytes; at < bytes.size(); ++at)
    for (unsigned const change : {0x01u, 0x80u, 0xffu}) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(change));
      mend_head(damaged);
      overwrite_bytes(s.file, damaged);
      CAPTURE(at, change);
      rondo::checkpoint_image image;
      if (error_of([&] { image = rondo::read_checkpoint(s.file, module); }).empty()) {
        ++read;
        for (auto const& a : image.actors) {
          REQUIRE(a.behaviour < module.size());
          REQUIRE(a.state_bytes.size() == module[a.behaviour].state_bytes);
          REQUIRE(a.mail.size() <= a.capacity);
          for (auto const& m : a.mail) REQUIRE(m.body.bytes <= rondo::max_payload_bytes);
        }
      } else {
        ++refused;
      }
    }
  REQUIRE(refused > 0);
  REQUIRE(read > 0);
}

TEST_CASE("files that are no checkpoint, or another program's, are refused by name and reason",
          "[checkpoint]") {
  scratch s;
  auto rt = start();
  require_refused(*rt, s.file, "cannot be opened");
  require_refused(*rt, s.directory, "is not a regular file");
  write_bytes(s.file, "");
  require_refused(*rt, s.file, "0 bytes");
  write_bytes(s.file, "Dear Sir or Madam, this is a letter and by no means a checkpoint of actors.\n");
  require_refused(*rt, s.file, "is not a checkpoint");
  write_sample(s.file);
  auto const good = read_bytes(s.file);

  auto newer = good;
  newer[12] = static_cast<char>(rondo::checkpoint_version + 1);
  mend_head(newer);
  write_bytes(s.file, newer);
  require_refused(*rt, s.file, "version " + std::to_string(rondo::checkpoint_version + 1));

  auto foreign = good;
  std::reverse(foreign.begin() + 8, foreign.begin() + 12);
  mend_head(foreign);
  write_bytes(s.file, foreign);
  require_refused(*rt, s.file, "byte order");

  write_bytes(s.file, good);
  auto other = start_other_module();
  require_refused(*other, s.file, "another module: its behaviour 1 is 'checkpoint_test::notebook'");
  {
    auto const elsewhere = s.directory / "other.checkpoint";
    rondo::checkpoint(*other, elsewhere);
    require_refused(*rt, elsewhere, "another module");
  }

  auto grown = describe();
  grown[0].state_bytes += 8;
  REQUIRE(contains(error_of([&] { rondo::read_checkpoint(s.file, grown); }), "the state of"));
  auto changed = describe();
  changed[0].messages[0].bytes += 8;
  REQUIRE(contains(error_of([&] { rondo::read_checkpoint(s.file, changed); }), "took different messages"));
}

TEST_CASE("a runtime that a checkpoint does not fit launches nothing and continues", "[checkpoint]") {
  scratch s;
  write_sample(s.file, 8);
  auto const check = [&](rondo::config const& settings, std::string const& why) {
    auto rt = start(settings);
    require_refused(*rt, s.file, why);
    auto const j = rt->launch<journal>("journal 0");
    tell(j, item{0, 0});
    REQUIRE(report_of(j).taken == 1);
    at_rest(*rt);
  };
  auto few_cells = small_config();
  few_cells.actors = 7;
  check(few_cells, "raise `actors`");
  auto few_blocks = small_config();
  few_blocks.mail_blocks = 7;
  check(few_blocks, "raise `mail_blocks`");
  auto little_memory = small_config();
  little_memory.state_bytes = 7 * 64;  // a state takes a multiple of 64 bytes
  check(little_memory, "raise `state_bytes`");

  auto rt = start();
  auto const lives = rt->launch<journal>("lives");
  REQUIRE(contains(error_of([&] { rondo::restore(*rt, s.file); }), "has actors"));
  REQUIRE(rt->list().size() == 1);
  REQUIRE(report_of(lives).taken == 0);
}

TEST_CASE("a checkpoint that cannot be written leaves the old file, no other, and a running runtime",
          "[checkpoint]") {
  scratch s;
  auto rt = start();
  auto const j = rt->launch<journal>("j");
  tell(j, item{0, 0});
  rondo::checkpoint(*rt, s.file);
  auto const old = read_bytes(s.file);
  tell(j, item{0, 1});
  std::string error;
  {
    file_size_limit const limit(64);
    error = error_of([&] { rondo::checkpoint(*rt, s.file); });
  }
  CAPTURE(error);
  REQUIRE(contains(error, s.file.string()));
  REQUIRE(contains(error, "cannot be written"));
  REQUIRE(read_bytes(s.file) == old);
  REQUIRE(s.files() == 1);

  REQUIRE(contains(error_of([&] { rondo::checkpoint(*rt, s.directory / "missing" / "file"); }),
                   "cannot be created"));
  REQUIRE(contains(error_of([&] { rondo::checkpoint(*rt, "/proc/arena.checkpoint"); }),
                   "/proc/arena.checkpoint"));
  auto const occupied = s.directory / "occupied";
  std::filesystem::create_directory(occupied);
  REQUIRE(contains(error_of([&] { rondo::checkpoint(*rt, occupied); }), "cannot be replaced"));
  REQUIRE(s.files() == 2);
  if (::geteuid() != 0) {  // root may write everywhere
    std::filesystem::permissions(s.directory,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    error = error_of([&] { rondo::checkpoint(*rt, s.file); });
    std::filesystem::permissions(s.directory, std::filesystem::perms::owner_all);
    REQUIRE(contains(error, "cannot be created"));
    REQUIRE(read_bytes(s.file) == old);
  }

  REQUIRE(report_of(j).next[0] == 2);
  rondo::checkpoint(*rt, s.file);
  REQUIRE(read_bytes(s.file) != old);
  auto copy = start();
  rondo::restore(*copy, s.file);
  REQUIRE(report_of(copy->find<journal>("j").value()).next[0] == 2);
}
