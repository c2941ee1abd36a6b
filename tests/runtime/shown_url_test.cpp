// URLs in messages.
#include "runtime/text/shown_url.hpp"

#include <utility>

#include "tests/catch.hpp"

using rondo::shown_url;
using rondo::shown_words;

TEST_CASE("a URL is shown without user, password, token and query, however it is written", "[text]") {
  for (auto const& [url, shown] : {
           std::pair{"nats://user:SECRET@host:4222", "nats://***@host:4222"},
           {"tls://SECRET@host", "tls://***@host"},
           {"user:SECRET@host", "***@host"},
           {"rtsp://user:SEC@RET@host/path", "rtsp://***@host/path"},
           {"rtsp://user:SEC/RET@host/path", "rtsp://***@host/path"},
           {"rtsp://user:SEC:RET@[::1]:554/a", "rtsp://***@[::1]:554/a"},
           {"rtsp://user:SECRET", "rtsp://***"},
           {"http://host/video?user=u&token=SECRET", "http://host/video?..."},
           {"http://u:SECRET@host/video?token=SECRET,SECRET", "http://***@host/video?..."},
           {"nats://a:1,nats://u:SECRET@b:2,nats://SECRET@c:3", "nats://a:1,nats://***@b:2,nats://***@c:3"},
           {"nats://u:SEC,RET@b:2", "nats://***@b:2"},
           {"u:SECRET@b:2,v:SECRET@c:3", "***@c:3"},
           {"concat:http://u:SECRET@a|http://v:SECRET@b/x?SECRET|http://c",
            "concat:http://***@a|http://***@b/x?...|http://c"},
           {"--nats=nats://u:SECRET@h", "--nats=nats://***@h"},
           {"cam=rtsp://u:SECRET@h", "cam=rtsp://***@h"},
       }) {
    INFO(url);
    CHECK(shown_url(url) == shown);
  }
}

TEST_CASE("text that is no URL, or has nothing to hide, is shown as it is", "[text]") {
  for (auto const* const text :
       {"", "clip.mp4", "clip@2x.mp4", "/home/me@work/12:30@home.mp4", "what?.mp4", "a,b c", "://", "@", ":",
        "nats://127.0.0.1:4222", "rtsp://[::1]:554/stream@2", "file:///a/b", "unix:/run/me@home/rondo.sock",
        "tcp:[::1]:7400", "concat:a.mp4|b.mp4", "nats://a:1,nats://b:2"})
    CHECK(shown_url(text) == text);
}

TEST_CASE("the arguments that a message repeats are shown without passwords", "[text]") {
  CHECK(shown_words("The following arguments were not expected: --nat nats://u:SECRET@h  u:SECRET@h\tx") ==
        "The following arguments were not expected: --nat nats://***@h  ***@h\tx");
  CHECK(shown_words("12:30 me@home") == "12:30 me@home");
}
