// A pipeline: a request such as "17*3" goes to a parser, a worker, and one that replies. The client keeps 64 on their
// way. Each is answered within a second, or fails; with an argument on the command line, there is no time limit.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "runtime/runtime.hpp"

using namespace std::chrono_literals;

constexpr std::uint64_t in_flight = 64;

struct request {
  char text[32];
};
struct parsed {
  std::uint64_t a, b;
};
struct product {
  std::uint64_t value;
};
struct answer {
  std::uint64_t value;
};

struct replier {
  using messages = rondo::messages<rondo::ask<product, answer>>;
  answer on(rondo::context&, product const& m) { return {m.value}; }
};

struct worker {
  struct arguments {
    rondo::address<replier> next;
  };
  using messages = rondo::messages<rondo::ask<parsed, answer>>;
  rondo::address<replier> next{};

  void on_start(rondo::context&, arguments const& a) { next = a.next; }
  void on(rondo::context& ctx, parsed const& m) {
    if (auto const e = ctx.forward(next, product{m.a * m.b}); e != rondo::errc::ok) ctx.reject(e);
  }
};

struct parser {
  struct arguments {
    rondo::address<worker> next;
  };
  using messages = rondo::messages<rondo::ask<request, answer>>;
  rondo::address<worker> next{};

  void on_start(rondo::context&, arguments const& a) { next = a.next; }
  void on(rondo::context& ctx, request const& m) {
    parsed out{};
    auto const end = m.text + strnlen(m.text, sizeof m.text);
    auto const [times, error] = std::from_chars(m.text, end, out.a);
    if (error != std::errc{} || times == end || *times != '*' ||
        std::from_chars(times + 1, end, out.b).ptr != end)
      return ctx.fail();
    if (auto const e = ctx.forward(next, out); e != rondo::errc::ok) ctx.reject(e);
  }
};

struct begin {
  rondo::address<parser> to;
  std::uint64_t requests, limit_us;
};
struct outcome {
  std::uint64_t sum, failed;
};

struct client {
  using messages = rondo::messages<rondo::ask<begin, outcome>, answer, rondo::rejected>;
  begin job{};
  rondo::reply_token asker{};
  std::uint64_t sent = 0, ended = 0;
  outcome so_far{};

  void on(rondo::context& ctx, begin const& m) {
    job = m;
    asker = ctx.defer();
    while (sent < in_flight) send_next(ctx);
  }
  void on(rondo::context& ctx, answer const& m) {
    so_far.sum += m.value;
    go_on(ctx);
  }
  void on(rondo::context& ctx, rondo::rejected const&) {
    ++so_far.failed;
    go_on(ctx);
  }
  void go_on(rondo::context& ctx) {
    if (sent < job.requests) send_next(ctx);
    if (++ended == job.requests) ctx.reply_to(asker, so_far);
  }
  void send_next(rondo::context& ctx) {
    request m{};
    std::snprintf(m.text, sizeof m.text, "%u*3", static_cast<unsigned>(++sent));
    if (job.limit_us != 0)
      ctx.ask_within(job.limit_us, job.to, m, 0);
    else
      ctx.ask(job.to, m, 0);
  }
};
RONDO_MODULE(offices, parser, worker, replier, client)

int main(int argc, char**) {
  bool const limited = argc == 1;
  std::uint64_t const requests = limited ? 200'000 : 2'000'000;
  // Room for more than are on their way: a message that is being handled still has its slot.
  rondo::runtime rt{rondo::use<offices>, {.device = "cpu", .teams = 2, .default_capacity = 4 * in_flight}};
  auto const r = rt.launch<replier>("replier");
  auto const w = rt.launch<worker>("worker", {}, {r.where()});
  auto const p = rt.launch<parser>("parser", {}, {w.where()});
  auto const begun = std::chrono::steady_clock::now();
  begin const all{p.where(), requests, limited ? 1'000'000u : 0u};
  auto const [sum, failed] = rt.launch<client>("client").ask(all, 1min, rondo::block).value();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun;
  std::printf("%.0f requests/s\n", static_cast<double>(requests) / took.count());
  return sum == 3 * (requests * (requests + 1) / 2) && failed == 0 ? 0 : 1;
}
