// Messages: identity, limits, traits, time stamps and deadlines.
#include "kernels/base/message.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace message_test {

struct add {
  std::uint64_t amount;
};
struct get {};
struct total {
  std::uint64_t value;
};
struct renamed {
  int x;
};
struct other {};

struct largest {
  std::byte bytes[rondo::max_payload_bytes];
};
struct too_large {
  std::byte bytes[rondo::max_payload_bytes + 1];
};
struct alignas(16) aligned_most {
  std::byte bytes[16];
};
struct alignas(32) aligned_too_much {
  std::byte bytes[32];
};
struct not_trivial {
  not_trivial(not_trivial const&) {}
};

struct counter {
  using messages = rondo::messages<add, rondo::ask<get, total>>;
};
struct silent {
  using messages = rondo::messages<>;
};

}  // namespace message_test

template <>
struct rondo::message_name_of<message_test::renamed> {
  static constexpr char const* value = "schema.renamed";
};

namespace message_test {

static_assert(rondo::message_type<largest> && rondo::message_type<aligned_most>);
static_assert(!rondo::message_type<too_large> && !rondo::message_type<aligned_too_much>);
static_assert(!rondo::message_type<not_trivial> && !rondo::message_type<int>);

static_assert(rondo::takes<counter, add> && rondo::takes<counter, get>);
static_assert(!rondo::takes<counter, total>, "the reply of an ask is not a message that its actor takes");
static_assert(!rondo::takes<counter, other> && !rondo::takes<silent, add>);
static_assert(std::is_same_v<rondo::reply_to_t<counter, get>, total>);
static_assert(std::is_void_v<rondo::reply_to_t<counter, add>>);
static_assert(std::is_void_v<rondo::reply_to_t<counter, other>>);

static_assert(rondo::type_name<add> == "message_test::add");
static_assert(rondo::type_name<renamed> == "schema.renamed");
static_assert(rondo::type_id<renamed> == rondo::detail::fnv1a("schema.renamed"));
// Compilers end the list of template arguments with a bracket or a semicolon, which a name may also hold.
template <class T>
struct boxed {
  T value;
};
template <char>
struct tagged {};
template <class T>
auto local_of() {
  struct local {};
  return boxed<local>{};
}
static_assert(rondo::type_id<boxed<int[4]>> != rondo::type_id<boxed<int[5]>>);
static_assert(rondo::type_name<boxed<int[4]>>.ends_with("4]>"));
static_assert(rondo::type_name<tagged<']'>>.ends_with("']'>"));
static_assert(rondo::type_name<tagged<'\''>> != rondo::type_name<tagged<';'>>);
static_assert(rondo::type_name<boxed<tagged<'['>>>.find(';') == std::string_view::npos);
static_assert(rondo::type_name<decltype(local_of<int[3]>())>.ends_with(">"));
// What g++ spells is the name for every compiler: checkpoints, services and GPUs know types by it.
static_assert(rondo::type_name<boxed<unsigned long>> == "message_test::boxed<long unsigned int>");
static_assert(rondo::type_name<boxed<boxed<short*>>> ==
              "message_test::boxed<message_test::boxed<short int*> >");
static_assert(rondo::type_id<boxed<unsigned long long const&>> ==
              rondo::detail::fnv1a("message_test::boxed<const long long unsigned int&>"));
// Numbers that another process or an older build computed remain valid only if these do not change.
static_assert(rondo::detail::fnv1a("") == 2166136261u && rondo::detail::fnv1a("a") == 0xe40c292cu);
static_assert(rondo::detail::fnv1a("foobar") == 0xbf9cf968u);

static_assert(offsetof(rondo::message, payload) % 16 == 0);
static_assert(!rondo::actor_id{}.valid() && rondo::actor_id{0, 0}.valid());

TEST_CASE("whatever compiler spells a type, its name is the one that g++ spells", "[message]") {
  auto const respelled = [](std::string const& from) {
    std::string to(rondo::detail::respelling(from, nullptr).bytes(), '\0');
    rondo::detail::respelling(from, to.data());
    return to;
  };
  struct spelling {
    char const *gcc, *clang, *nvcc;  // null: as g++
  };
  for (auto const& s : {
           spelling{"shop::order", nullptr, nullptr},
           {"shop::{anonymous}::order", "shop::(anonymous namespace)::order", "shop::<unnamed>::order"},
           {"box<long unsigned int>", "box<unsigned long>", "box<unsigned long>"},
           {"box<long long int>", "box<long long>", "box<long long>"},
           {"box<short unsigned int>", "box<unsigned short>", "box<unsigned short>"},
           {"box<unsigned int>", nullptr, nullptr},
           {"box<unsigned char>", nullptr, nullptr},
           {"box<long double>", nullptr, nullptr},
           {"box<bool>", nullptr, "box<__nv_bool>"},
           {"box<const long int*>", "box<const long *>", "box<const long *>"},
           {"box<int* const>", "box<int *const>", "box<int *const>"},
           {"box<const shop::order&>", "box<const shop::order &>", "box<const shop::order &>"},
           {"box<int [4][2]>", "box<int[4][2]>", nullptr},
           {"box<int (*)[4]>", nullptr, nullptr},
           {"box<int(long unsigned int, char)>", "box<int (unsigned long, char)>",
            "box<int (unsigned long, char)>"},
           {"box<int (*)(long int)>", "box<int (*)(long)>", "box<int (*)(long)>"},
           {"box<void (shop::till::*)(int) const>", nullptr, nullptr},
           {"box<box<box<int> > >", "box<box<box<int>>>", "box<box<box<int>>>"},
           {"pair<box<int>, long int>", "pair<box<int>, long>", "pair<box<int>, long>"},
           {"std::array<long unsigned int, 4>", "std::array<unsigned long, 4>",
            "std::array<unsigned long, 4UL>"},
           {"value<-3>", "value<-3L>", "value<-3L>"},
           {"value<(shop::kind)7>", nullptr, "value<(shop::kind)7U>"},
           {"value<shop::kind::b, true>", nullptr, nullptr},
           {R"(value<'\''>)", nullptr, "value<'''>"},
           {R"(value<'\012', 'x'>)", R"(value<'\n', 'x'>)", "value<'\n', 'x'>"},
           {R"(value<'\000'>)", R"(value<'\0'>)", nullptr},
           {R"(value<'\\', ';', ']'>)", nullptr, nullptr},
           {"long_int<longest, unsigned_0, u1>", nullptr, nullptr},
       })
    for (auto const* const from : {s.gcc, s.clang, s.nvcc})
      if (from != nullptr) CHECK(respelled(from) == s.gcc);
}

TEST_CASE("message types of different names have different identities", "[message]") {
  std::set<std::uint32_t> const ids{rondo::type_id<add>,   rondo::type_id<get>,     rondo::type_id<total>,
                                    rondo::type_id<other>, rondo::type_id<renamed>, rondo::type_id<largest>};
  CHECK(ids.size() == 6);
}

TEST_CASE("a stamp keeps 48 bits of time and ages across their wrap", "[message][G12]") {
  rondo::message_header h;
  auto const wrap = std::uint64_t{1} << 48;
  for (std::uint64_t sent : {std::uint64_t{1}, std::uint64_t{1} << 32, wrap - 1, wrap + 7, 5 * wrap - 1000}) {
    CAPTURE(sent);
    h.flags = rondo::flag_wants_reply;
    h.stamp(sent);
    CHECK(h.flags == rondo::flag_wants_reply);
    CHECK(h.stamped());
    CHECK(h.sent_ns() == (sent & (wrap - 1)));
    CHECK(h.age_ns(sent) == 0);
    CHECK(h.age_ns(sent + 1234) == 1234);
    CHECK(h.age_ns(sent + wrap / 2 - 1) == wrap / 2 - 1);
    CHECK(h.age_ns(sent + wrap - 1) ==
          0);  // the clock of the sender is a nanosecond ahead; the age must not be 78 hours
  }
  CHECK_FALSE(rondo::message_header{}.stamped());
  h.stamp(wrap);  // the only moment whose 48 bits would mean that there is no stamp
  CHECK(h.stamped());
}

TEST_CASE("a deadline expires after its last nanosecond, not at it", "[message][G12]") {
  rondo::message_header h;
  for (std::uint64_t sent : {std::uint64_t{7}, (std::uint64_t{1} << 48) - 500}) {
    CAPTURE(sent);
    h.stamp(sent);
    h.set_deadline(1);
    CHECK_FALSE(h.expired(sent));
    CHECK_FALSE(h.expired(sent + 1000));
    CHECK(h.expired(sent + 1001));
    h.set_deadline(0);
    CHECK_FALSE(h.expired(sent + 1'000'000'000'000));
    h.set_deadline(2'147'483'647);
    CHECK_FALSE(h.expired(sent + 2'147'483'647'000));
    CHECK(h.expired(sent + 2'147'483'647'001));
    h.set_deadline(2'147'483'648);  // from here on in milliseconds, rounded up
    CHECK_FALSE(h.expired(sent + 2'147'484'000'000));
    CHECK(h.expired(sent + 2'147'484'000'001));
    h.set_deadline(rondo::message_header::longest_deadline_us);
    CHECK_FALSE(h.expired(sent + 86'400'000'000'000));
    CHECK(h.expired(sent + 86'400'000'000'001));
    h.set_deadline(rondo::message_header::longest_deadline_us + 1);
    CHECK(h.deadline == rondo::message_header::refused_deadline);
  }
}

}  // namespace message_test
