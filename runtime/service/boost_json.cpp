// Boost.JSON's own sources, compiled here once: Debian's packages of Boost 1.81 have its headers alone.
#include <boost/json/src.hpp>
