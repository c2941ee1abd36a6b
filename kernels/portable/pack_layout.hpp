// How mail is packed for a player: the runs of many actors, each with its state and its next messages, and what their
// handlers send. The same on the host and for every compiler of a GPU.
//
//   buffer 0   packed_run[], then the states
//   buffer 1   packed_message[], then the payloads
//   buffer 2   send_list, then packed_send[]
#pragma once

#include "kernels/portable/names.hpp"

namespace rondo {

// -- for the runtime

/// One actor's run.
struct packed_run {
  unsigned behaviour;  // its place in the module
  unsigned state_at;   // in bytes behind the first state
  unsigned first;      // its first message
  unsigned count;      // of its messages; at least 1
  actor_id self;
  // -- written by the kernel
  unsigned handled;  // how many of them its handlers have handled
  unsigned failure;  // an errc: why the next one failed; 0: none did
};

/// One message.
struct packed_message {
  unsigned entry;     // its place in the behaviour's list
  unsigned at;        // in bytes behind the first payload
  unsigned asked;     // 1: its sender waits for an answer
  unsigned answered;  // -- written by the kernel: 1: it has one
};

/// How many messages were sent.
struct send_list {
  unsigned count;   // more than there is room for: then the pack is void
  unsigned misfit;  // 1: a behaviour's state has another size for the GPU's compiler
  unsigned unused[14];
};

/// A message that a handler has sent, or its answer.
struct packed_send {
  unsigned run;      // whose
  unsigned message;  // that was handled
  unsigned entry;    // 0: the answer; otherwise 1 + its place in the behaviour's `sends`
  unsigned priority;
  actor_id to;  // of no use for an answer
  unsigned bytes;
  unsigned unused;
  unsigned char payload[96];
};

/// The arguments of a kernel: the runs of one behaviour.
struct pack_work {
  unsigned behaviour;    // its place in the module
  unsigned state_bytes;  // of the behaviour, as the host has it
  unsigned runs;         // of all behaviours
  unsigned states_at;    // in buffer 0
  unsigned payloads_at;  // in buffer 1
  unsigned most_sends;
};

static_assert(sizeof(packed_run) == 32 && sizeof(packed_message) == 16 && sizeof(send_list) == 64 &&
                  sizeof(packed_send) == 128 && sizeof(pack_work) == 24,
              "the same for every compiler");

/// How many runs lanes share (work_item); on a processor a work-item takes them all.
enum { runs_in_a_row = 32 };

}  // namespace rondo
