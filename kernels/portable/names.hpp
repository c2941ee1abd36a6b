// The names by which portable behaviours speak of messages and actors. For a GPU they are declared here, with the same
// layout as on the host, where they have more.
#pragma once

#include "kernels/base/status.hpp"
#include "kernels/portable/language.hpp"

#if !defined(RONDO_ON_PLAYER)
#include "kernels/base/address.hpp"
#else

namespace rondo {

struct actor_id {
  unsigned index;
  unsigned generation;
};
template <class Behaviour>
struct address {
  actor_id id;
};
template <class Request, class Reply>
struct ask {};
template <class... Entries>
struct messages {};

}  // namespace rondo

#endif
