// The same for a C++14 compiler.
#include "tests/streams/pixels/every_function.hpp"

void every_function(unsigned char* to, unsigned char const* from, unsigned short const* lines, int width,
                    int height, int stride, rondo::pixels::blur_weights const& weights, int y) {
  rondo::pixels::every_function(to, from, lines, width, height, stride, weights, y, 0, 1);
}
