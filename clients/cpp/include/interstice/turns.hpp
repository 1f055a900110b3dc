#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace interstice {

/// Runs the calls of a session one after another, in the order in which they were started.
class Turns {
 public:
  /// A place in the order, taken when a call is started; it ends with this object.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(&turns), number_(turns.take()) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), number_(other.number_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_) turns_->end(number_);
    }

    /// Blocks until the calls before this one have ended.
    void wait() const { turns_->waitFor(number_); }

   private:
    Turns* turns_;
    std::uint64_t number_;
  };

  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

 private:
  std::uint64_t take() {
    const std::lock_guard lock(mutex_);
    return taken_++;
  }

  void waitFor(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return current_ == number; });
  }

  /// A call that never ran (no thread could be started) waits here, so that no later one overtakes those before it.
  void end(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return current_ == number; });
    current_++;
    // Under the lock, because a thread that waits for the last turn may destroy this object as soon as it sees the
    // turn.
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t taken_ = 0;
  std::uint64_t current_ = 0;
};

}  // namespace interstice
