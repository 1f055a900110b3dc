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

/// How a call is tried again: only what the server calls retryable, and what got no answer.
struct Retry {
  int attempts = 20;                // the first try included
  Seconds firstPause{0.1};          // each further pause is twice as long
  Seconds longestPause{2};          // with the other defaults a server may be away for about 25 s
  Seconds longestRetryAfter{30};    // a server that asks for more is not waited for
};

inline std::mt19937_64& randomness() {
  thread_local std::mt19937_64 generator{(std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()};
  return generator;
}

inline void sleepFor(Seconds pause) { std::this_thread::sleep_for(pause); }

/// Does the work until it succeeds, fails for good, or tries or time end. @throws ServiceError of the last try
template <typename Work, typename Sleep = void (*)(Seconds)>
auto persist(const Retry& retry, Clock::time_point endsAt, Work&& work, Sleep&& sleep = sleepFor) {
  for (int attempt = 1;; attempt++) {
    Seconds pause{0};
    try {
      return work();
    } catch (const ServiceError& error) {
      const Seconds asked{error.retryAfter()};
      if (!error.isRetryable() || attempt >= retry.attempts || asked > retry.longestRetryAfter) throw;
      // Half of it is left to chance, so that many clients of one server do not come back all at once.
      const double chance = std::uniform_real_distribution<double>(0.5, 1)(randomness());
      const Seconds own = std::min(retry.longestPause, retry.firstPause * std::exp2(attempt - 1)) * chance;
      pause = asked > Seconds{0} ? std::max(own, asked + retry.firstPause * chance) : own;
      if (endsAt != Clock::time_point::max() && Clock::now() + pause >= endsAt) throw;
    }
    sleep(pause);
  }
}

}  // namespace interstice
