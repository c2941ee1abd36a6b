#include "actors/video/hardware/device_frames.hpp"

namespace rondo::video::ffmpeg {

int open_device(AVHWDeviceType kind, buffer& to) {
  AVBufferRef* made = nullptr;
  int const result = av_hwdevice_ctx_create(&made, kind, nullptr, nullptr, 0);
  to.reset(made);
  return result;
}

int device_frames::open(AVHWDeviceType kind, AVPixelFormat on_device, std::span<AVPixelFormat const> wanted,
                        int width, int height) {
  buffer device;
  if (int const result = open_device(kind, device); result < 0) return result;
  std::unique_ptr<AVHWFramesConstraints, freed_by<av_hwframe_constraints_free>> const takes(
      av_hwdevice_get_hwframe_constraints(device.get(), nullptr));
  auto const is_taken = [&](AVPixelFormat f) {
    if (!takes || takes->valid_sw_formats == nullptr) return true;  // it does not say
    for (auto const* v = takes->valid_sw_formats; *v != AV_PIX_FMT_NONE; ++v)
      if (*v == f) return true;
    return false;
  };
  host_format_ = AV_PIX_FMT_NONE;
  for (auto const f : wanted)
    if (host_format_ == AV_PIX_FMT_NONE && is_taken(f)) host_format_ = f;
  if (host_format_ == AV_PIX_FMT_NONE) return AVERROR(ENOSYS);
  frames_.reset(av_hwframe_ctx_alloc(device.get()));
  if (!frames_) return AVERROR(ENOMEM);
  auto& about = *reinterpret_cast<AVHWFramesContext*>(frames_->data);
  about.format = on_device;
  about.sw_format = host_format_;
  about.width = width;
  about.height = height;
  return av_hwframe_ctx_init(frames_.get());  // its pool grows as the encoder needs
}

int device_frames::upload(AVFrame const& from, AVFrame*& to) {
  uploaded_ = new_frame();  // the encoder may still hold the one before
  int result = av_hwframe_get_buffer(frames_.get(), uploaded_.get(), 0);
  if (result >= 0) result = av_hwframe_transfer_data(uploaded_.get(), &from, 0);
  if (result >= 0) result = av_frame_copy_props(uploaded_.get(), &from);
  to = uploaded_.get();
  return result;
}

int download(AVFrame& frame) {
  if (frame.hw_frames_ctx == nullptr) return 0;
  auto const on_host = new_frame();
  int result = av_hwframe_transfer_data(on_host.get(), &frame, 0);
  if (result >= 0) result = av_frame_copy_props(on_host.get(), &frame);
  // On a device a crop at the left and at the top is only noted.
  if (result >= 0) result = av_frame_apply_cropping(on_host.get(), AV_FRAME_CROP_UNALIGNED);
  if (result < 0) return result;
  av_frame_unref(&frame);
  av_frame_move_ref(&frame, on_host.get());
  return 0;
}

}  // namespace rondo::video::ffmpeg
