// README's first example with its steps for GPUs, in one .cu file: nvcc also compiles a program's use of the runtime.
// See cuda_module.hpp for what it does not compile of coroutines.
#include "runtime/device/cuda/cuda_module.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "tests/consumer/project/clicks.cpp"

RONDO_CUDA_MODULE(counters)

using namespace std::chrono_literals;

boost::asio::awaitable<std::uint64_t> in_a_coroutine(rondo::actor_ref<counter> clicks) {
  co_await clicks.tell(add{1});
  auto const [ec, t] = co_await clicks.ask(get{}, 10ms, boost::asio::as_tuple(boost::asio::use_awaitable));
  if (!ec) co_return t.value;
  auto const second = co_await clicks.ask(get{}, 10ms);
  co_return second.value;
}

std::uint64_t in_a_thread(rondo::actor_ref<counter> clicks) {
  std::uint64_t value = 0;
  clicks.ask(get{}, 10ms, [&](rondo::error_code ec, total t) { value = ec ? 0 : t.value; });
  clicks.tell(add{1}, {}, boost::asio::use_future).get();
  return clicks.ask(get{}, 10ms, boost::asio::use_future).get().value + value;
}
