// The same for a C++14 compiler.
#include "tests/streams/pixels/every_function.hpp"

void every_function(unsigned char* to, unsigned char const* from, unsigned short const* lines, short* model,
                    rondo::pixels::draw_list const* list, rondo::pixels::letter_book const* book, int width,
                    int height, int stride, rondo::pixels::blur_weights const& weights, int y) {
  rondo::pixels::every_function(to, from, lines, model, list, book, width, height, stride, weights, y, 0, 1);
}
