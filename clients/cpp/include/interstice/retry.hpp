#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "interstice/error.hpp"

namespace interstice {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// How calls are retried: only those that the server calls retryable or did not answer.
struct Retry {
  int attempts = 20;                // including the first
  Seconds firstPause{0.1};          // each further pause is twice as long
  Seconds longestPause{2};          // with the other defaults a server may be unavailable for about 25 s
  Seconds longestRetryAfter{30};    // a call whose server asks for more is not retried
};

inline std::mt19937_64& randomness() {
  thread_local std::mt19937_64 generator{(std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()};
  return generator;
}

inline void sleepFor(Seconds pause) { std::this_thread::sleep_for(pause); }

/// Repeats the work until it succeeds, fails with an error that is not retryable, or attempts or time are used up.
/// @throws ServiceError of the last attempt
template <typename Work, typename Sleep = void (*)(Seconds)>
auto withRetries(const Retry& retry, Clock::time_point endsAt, Work&& work, Sleep&& sleep = sleepFor) {
  bool isUncertain = false;
  for (int attempt = 1;; attempt++) {
    Seconds pause{0};
    try {
      return work();
    } catch (const ServiceError& error) {
      const Seconds requested{error.retryAfter()};
      // A refusal says nothing about an earlier attempt without an answer.
      isUncertain = isUncertain || error.isUncertain();
      const auto last = [&] { return ServiceError(error.error(), isUncertain); };
      if (!error.isRetryable() || attempt >= retry.attempts || requested > retry.longestRetryAfter) throw last();
      // Half of the pause is random, so that the clients of one server do not all return at once.
      const double chance = std::uniform_real_distribution<double>(0.5, 1)(randomness());
      const Seconds own = std::min(retry.longestPause, retry.firstPause * std::exp2(attempt - 1)) * chance;
      pause = requested > Seconds{0} ? std::max(own, requested + retry.firstPause * chance) : own;
      if (endsAt != Clock::time_point::max() && Clock::now() + pause >= endsAt) throw last();
    }
    sleep(pause);
  }
}

}  // namespace interstice
