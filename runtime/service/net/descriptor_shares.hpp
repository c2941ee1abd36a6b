// Divides the files that a process may open (RLIMIT_NOFILE) among the connections of a service, so that no kind of
// client can take those that another one, or the service itself, needs.
#pragma once

#include <cstdint>

namespace rondo::service {

struct descriptor_shares {
  std::uint32_t clients;  // connections, of any client
  std::uint32_t local;    // further ones, of clients on this machine alone
};

/// The most files that this process may open now.
std::uint64_t descriptor_limit();
/// How many files this process has open.
std::uint64_t descriptors_open();
/// HTTP connections that a process with this limit may have.
std::uint32_t http_descriptors(std::uint64_t limit);

/// What is left for clients, at most `wanted`. `open` are the files that the process itself has open; some more are
/// reserved for checkpoints, recordings and reconnections, and http_descriptors. Throws config_error if hardly any are
/// left.
descriptor_shares share_descriptors(std::uint64_t limit, std::uint64_t open, std::uint32_t wanted);

}  // namespace rondo::service
