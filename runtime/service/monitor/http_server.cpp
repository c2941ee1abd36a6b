#include "runtime/service/monitor/http_server.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <list>

#include "runtime/service/monitor/metrics.hpp"
#include "runtime/text/clean_text.hpp"

namespace rondo::service {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

response make_response(http_answer answer, unsigned version, bool keep_alive) {
  response r{static_cast<http::status>(answer.status), version};
  r.set(http::field::content_type, answer.content_type);
  r.set(http::field::cache_control, "no-store");
  if (answer.status == 405) r.set(http::field::allow, "GET, HEAD");
  r.keep_alive(keep_alive);
  r.body() = std::move(answer.body);
  r.prepare_payload();
  return r;
}

/// The response to a request that could not be read. Status 0: none, since the client is gone, or was too slow: a
/// timeout closes the socket.
http_answer answer_to(error_code ec, http_options const& options) {
  if (ec == http::error::header_limit)
    return {431, "text/plain",
            "the header is longer than " + std::to_string(options.header_bytes) + " bytes\n"};
  if (ec == http::error::body_limit)
    return {413, "text/plain", "the body is longer than " + std::to_string(options.body_bytes) + " bytes\n"};
  bool const malformed = ec.category() == make_error_code(http::error::bad_version).category() &&
                         ec != http::error::end_of_stream && ec != http::error::partial_message;
  if (malformed) return {400, "text/plain", "not an HTTP request: " + ec.message() + "\n"};
  return {.status = 0};
}

}  // namespace

struct http_server::core : std::enable_shared_from_this<http_server::core> {
  using stream = beast::tcp_stream;
  template <class T = void>
  using task = asio::awaitable<T>;
  struct connection {
    beast::tcp_stream line;
    bool is_answered = false;  // a function runs for it; otherwise it waits for its client
  };
  using place = std::list<connection>::iterator;

  core(asio::any_io_executor const& io, asio::any_io_executor on, http_routes answers, http_options limits)
      : context(asio::make_strand(io)),
        work(std::move(on)),
        routes(std::move(answers)),
        options(limits),
        acceptor(context) {}

  task<> accept();
  task<> serve(place self);
  void begin_to_wait(place self);
  bool make_room();
  task<http_answer> answer(request const& asked);
  task<http_answer> answer_slowly(http_route const& route);
  task<bool> send(place to, response r, bool body);

  asio::any_io_executor context;  // a strand
  asio::any_io_executor work;
  http_routes const routes;
  http_options const options;
  std::uint16_t port = 0;
  // Used only in the strand:
  asio::ip::tcp::acceptor acceptor;
  std::list<connection>
      connections;  // those that wait for their clients are in the order in which they began to
  std::uint32_t slow_answers = 0;  // that are being made
};

/// What both kinds of routes do.
static http_answer made_by(http_route const& route) {
  try {
    return route.answer();
  } catch (std::exception const& e) {
    return {500, "text/plain", std::string(e.what()) + "\n"};
  }
}

auto http_server::core::accept() -> task<> {
  auto const self = shared_from_this();
  while (acceptor.is_open()) {
    error_code ec;
    stream taken(context);
    co_await acceptor.async_accept(taken.socket(), asio::redirect_error(asio::use_awaitable, ec));
    if (ec == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (ec) {  // out of descriptors, for example: some will be free again
      asio::steady_timer pause(context, std::chrono::milliseconds(100));
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
      continue;
    }
    if (!make_room()) {
      static constexpr std::string_view busy =
          "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      taken.socket().non_blocking(true, ec);
      if (!ec) taken.socket().write_some(asio::buffer(busy), ec);  // not sent if it does not fit
      continue;
    }
    asio::co_spawn(context, serve(connections.insert(connections.end(), {std::move(taken)})), asio::detached);
  }
}

/// It has no request or has not taken its response; from now on it may have to make room for others.
void http_server::core::begin_to_wait(place self) {
  self->is_answered = false;
  connections.splice(connections.end(), connections, self);
  self->line.expires_after(options.request_time);
}

/// If there is no place for one more connection, closes the one whose client has been waited for longest. False if
/// there is none of these either.
bool http_server::core::make_room() {
  auto const is_open = [](connection const& c) {
    return c.line.socket().is_open();
  };  // others are about to end
  if (std::ranges::count_if(connections, is_open) < static_cast<std::ptrdiff_t>(options.connections))
    return true;
  auto const longest =
      std::ranges::find_if(connections, [&](connection const& c) { return !c.is_answered && is_open(c); });
  if (longest == connections.end()) return false;
  longest->line.close();
  return true;
}

auto http_server::core::serve(place self) -> task<> {
  auto const keep = shared_from_this();
  struct leave {
    std::list<connection>& all;
    place self;
    ~leave() { all.erase(self); }
  } const at_the_end{connections, self};
  beast::flat_buffer buffer(options.header_bytes + options.body_bytes + 4096);
  for (bool goes_on = true; goes_on;) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(options.header_bytes);
    parser.body_limit(options.body_bytes);
    error_code ec;
    begin_to_wait(self);
    co_await http::async_read(self->line, buffer, parser, asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
      if (auto const said = answer_to(ec, options); said.status != 0 && self->line.socket().is_open())
        co_await send(self, make_response(said, 11, false), true);
      break;
    }
    auto const& asked = parser.get();
    goes_on = asked.keep_alive();
    self->line.expires_never();
    self->is_answered = true;
    auto made = co_await answer(asked);
    goes_on = co_await send(self, make_response(std::move(made), asked.version(), goes_on),
                            asked.method() != http::verb::head) &&
              goes_on;
  }
  error_code ignored;
  self->line.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

auto http_server::core::answer(request const& asked) -> task<http_answer> {
  if (asked.method() != http::verb::get && asked.method() != http::verb::head)
    co_return http_answer{405, "text/plain", "only GET and HEAD are supported\n"};
  auto const target = std::string_view(asked.target().data(), asked.target().size());
  auto const route = routes.find(target.substr(0, target.find('?')));
  if (route == routes.end()) {
    std::string paths;
    for (auto const& [path, function] : routes) paths += " " + path;
    co_return http_answer{404, "text/plain", "not found; available:" + paths + "\n"};
  }
  if (route->second.is_quick) co_return made_by(route->second);
  co_return co_await answer_slowly(route->second);
}

auto http_server::core::answer_slowly(http_route const& route) -> task<http_answer> {
  // With few connections some are left for quick requests, too.
  if (slow_answers >= std::max(1u, std::min(options.slow_answers, options.connections / 2)))
    co_return http_answer{
        503, "text/plain",
        "already answering " + std::to_string(slow_answers) + " such requests; try again\n"};
  ++slow_answers;
  auto made = co_await asio::co_spawn(
      work, [&route]() -> asio::awaitable<http_answer> { co_return made_by(route); }, asio::use_awaitable);
  --slow_answers;
  co_return made;
}

auto http_server::core::send(place to, response r, bool body) -> task<bool> {
  error_code ec;
  begin_to_wait(to);
  if (body) {
    co_await http::async_write(to->line, r, asio::redirect_error(asio::use_awaitable, ec));
  } else {
    http::response_serializer<http::string_body> head(r);
    co_await http::async_write_header(to->line, head, asio::redirect_error(asio::use_awaitable, ec));
  }
  co_return !ec && !r.need_eof();
}

http_server::http_server(asio::any_io_executor io, asio::any_io_executor work,
                         asio::ip::tcp::endpoint const& where, http_routes routes, http_options options)
    : core_(std::make_shared<core>(io, std::move(work), std::move(routes), options)) {
  core_->acceptor.open(where.protocol());
  core_->acceptor.set_option(asio::socket_base::reuse_address(true));
  core_->acceptor.bind(where);
  core_->acceptor.listen();
  core_->port = core_->acceptor.local_endpoint().port();
  asio::co_spawn(core_->context, core_->accept(), asio::detached);
}

http_server::~http_server() {
  if (made_here_)
    stop();
  else
    keep_for_ever(std::move(core_));
}

std::uint16_t http_server::port() const noexcept { return core_->port; }

void http_server::stop() {
  asio::dispatch(core_->context, [core = core_] {
    error_code ignored;
    core->acceptor.close(ignored);
    for (auto& c : core->connections) c.line.close();
  });
}

http_routes monitoring_routes(std::function<std::string()> metrics, std::function<std::string()> why_not_well,
                              std::function<std::string()> why_not_ready,
                              std::function<std::vector<std::string>()> conditions) {
  auto const unless = [](char const* good, std::function<std::string()> const& why_not,
                         std::function<std::vector<std::string>()> const& more = {}) {
    auto const answer = [good, why_not, more] {
      auto const why = why_not();
      auto said = why.empty() ? http_answer{.body = good}
                              : http_answer{.status = 503, .body = clean_text(why) + "\n"};
      for (auto const& line : more ? more() : std::vector<std::string>{})
        said.body += clean_text(line) + '\n';
      return said;
    };
    return http_route{answer, true};
  };
  return {{"/metrics", {[metrics] {
             return http_answer{200, metrics_content_type, metrics()};
           }}},
          {"/healthz", unless("ok\n", why_not_well)},
          {"/readyz", unless("ready\n", why_not_ready, conditions)}};
}

}  // namespace rondo::service
