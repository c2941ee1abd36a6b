#include "actors/video/media/window.hpp"

#include <SDL.h>
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "actors/video/media/window_thread.hpp"

namespace rondo::video {

window::window(std::string title, std::int32_t width, std::int32_t height, image const& picture)
    : picture_(picture), thread_(window_thread::shared()) {
  next_.resize(picture.bytes());
  drawn_.resize(picture.bytes());
  thread_->call([&] { open(title, width, height); });
}
window::~window() {
  if (thread_->is_of_parent())
    keep_for_ever(std::move(thread_));
  else
    thread_->call([this] { close(); });
}

void window::open(std::string const& title, std::int32_t width, std::int32_t height) {
  window_ = SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, width, height,
                             SDL_WINDOW_RESIZABLE);
  if (window_ != nullptr) renderer_ = SDL_CreateRenderer(window_, -1, SDL_RENDERER_PRESENTVSYNC);
  if (renderer_ == nullptr && window_ != nullptr)
    renderer_ = SDL_CreateRenderer(window_, -1, SDL_RENDERER_SOFTWARE);
  auto const& c = picture_.colours;
  SDL_SetYUVConversionMode(c.is_full != 0  ? SDL_YUV_CONVERSION_JPEG
                           : c.matrix == 1 ? SDL_YUV_CONVERSION_BT709
                                           : SDL_YUV_CONVERSION_BT601);
  if (renderer_ != nullptr)
    texture_ = SDL_CreateTexture(renderer_, SDL_PIXELFORMAT_IYUV, SDL_TEXTUREACCESS_STREAMING, picture_.width,
                                 picture_.height);
  if (texture_ == nullptr ||
      SDL_RenderSetLogicalSize(renderer_, shown_width(picture_), picture_.height) != 0) {
    auto const why = fmt::format("cannot open a window of {}x{} pixels: {}", width, height, SDL_GetError());
    close();
    throw std::runtime_error(why);
  }
  thread_->survive_server(window_);
  thread_->listen(SDL_GetWindowID(window_), [this](SDL_Event const& event) { take(event); });
}

void window::close() noexcept {
  if (thread_->is_lost()) return;  // what it has goes with the process
  if (window_ != nullptr) thread_->forget(SDL_GetWindowID(window_));
  if (texture_ != nullptr) SDL_DestroyTexture(texture_);
  if (renderer_ != nullptr) SDL_DestroyRenderer(renderer_);
  if (window_ != nullptr) SDL_DestroyWindow(window_);
}

window::state window::show(std::byte const* data) {
  // relaxed: what goes with it is under the mutex
  auto const now = state_.load(std::memory_order::relaxed);
  if (now != state::open) return now;
  bool was_drawn = false;
  {
    std::lock_guard const lock(mutex_);
    std::memcpy(next_.data(), data, next_.size());
    was_drawn = !has_next_;
    has_next_ = true;
  }
  if (was_drawn) thread_->post([this] { draw(true); });
  return now;
}

std::string window::why_failed() const {
  std::lock_guard const lock(mutex_);
  return why_;
}

void window::draw(bool is_new) {
  if (thread_->is_lost()) return fail("be shown: the display has gone");
  if (is_new) {
    std::lock_guard const lock(mutex_);
    drawn_.swap(next_);
    has_next_ = false;
  }
  auto const p = planes_at(picture_, drawn_.data());
  if (is_new && SDL_UpdateYUVTexture(texture_, nullptr, p.of[0].data, p.of[0].stride, p.of[1].data,
                                     p.of[1].stride, p.of[2].data, p.of[2].stride) != 0)
    return fail("take a picture");
  if (SDL_RenderClear(renderer_) != 0 || SDL_RenderCopy(renderer_, texture_, nullptr, nullptr) != 0)
    return fail("draw a picture");
  SDL_RenderPresent(renderer_);
}

void window::fail(char const* what) {
  std::lock_guard const lock(mutex_);
  why_ = fmt::format("the window cannot {}{}{}", what, thread_->is_lost() ? "" : ": ",
                     thread_->is_lost() ? "" : SDL_GetError());
  state_ = state::failed;
}

void window::take(SDL_Event const& event) {
  bool const is_key =
      event.type == SDL_KEYDOWN && (event.key.keysym.sym == SDLK_ESCAPE || event.key.keysym.sym == SDLK_q);
  bool const is_close = event.type == SDL_WINDOWEVENT && event.window.event == SDL_WINDOWEVENT_CLOSE;
  if (is_key || is_close) {
    state_ = state::closed;
    SDL_HideWindow(window_);
  } else if (event.type == SDL_WINDOWEVENT && event.window.event == SDL_WINDOWEVENT_EXPOSED) {
    draw(false);
  }
}

}  // namespace rondo::video
