// A window that shows the newest of the pictures that it was given.
//
// `show` copies the picture into a slot, from which the windows' thread draws it: whoever shows pictures never waits
// for the window system, and does not hold the picture. A picture that comes before the last one was drawn replaces it.
//
// Threads: `show` and `why_failed` from one at a time; the window itself lives on the windows' thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/video/pixels/image.hpp"

struct SDL_Window;
struct SDL_Renderer;
struct SDL_Texture;
union SDL_Event;

namespace rondo::video {

class window_thread;

class window {
 public:
  /// Opens it. All pictures are like `picture`; they are scaled to the window. Throws std::runtime_error, with SDL's
  /// reason.
  window(std::string title, std::int32_t width, std::int32_t height, image const& picture);
  ~window();
  window(window const&) = delete;
  window& operator=(window const&) = delete;

  enum class state : int { open, closed, failed };
  /// Shows a picture, and says what has become of the window by now.
  state show(std::byte const* data);
  std::string why_failed() const;

 private:
  // On the windows' thread.
  void open(std::string const& title, std::int32_t width, std::int32_t height);
  void close() noexcept;
  void draw(bool is_new);
  void take(SDL_Event const& event);
  void fail(char const* what);

  image picture_;
  std::shared_ptr<window_thread> thread_;
  SDL_Window* window_ = nullptr;
  SDL_Renderer* renderer_ = nullptr;
  SDL_Texture* texture_ = nullptr;
  std::vector<std::byte> drawn_;

  std::atomic<state> state_{state::open};
  mutable std::mutex mutex_;
  std::vector<std::byte> next_;  // under the mutex
  bool has_next_ = false;        // likewise
  std::string why_;              // likewise
};

}  // namespace rondo::video
