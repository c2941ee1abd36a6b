// The one source that compiles Boost.JSON.
#include <boost/json/src.hpp>
